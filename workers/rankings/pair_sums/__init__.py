"""Sums over pairs of names, kept for large scopes: read, changed by what was published, verified."""
