"""Webhooks: sent, signed, repeated, refused."""
