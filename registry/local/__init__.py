"""A whole registry on one machine: its processes, embedded servers and web server."""
