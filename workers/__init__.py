"""The arithmetic: everything that nobody posted."""
