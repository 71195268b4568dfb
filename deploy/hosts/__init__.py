"""The registry on several hosts, tried on one machine: see `deploy/try-hosts`."""
