"""Pair sums: sums over pairs of names, kept for large scopes; reading, updating and verifying them."""
