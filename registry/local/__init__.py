"""A whole registry on one machine: its processes, its embedded servers and its address."""
