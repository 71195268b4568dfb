"""The compose file on a real container engine: `deploy/try-compose` starts this with the standard library alone."""
