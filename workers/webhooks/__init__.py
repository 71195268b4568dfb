"""Webhooks: events are sent to the addresses that projects name, at least once and in order until one fails."""
