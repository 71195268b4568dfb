"""The adapters under their names of release 0.1; import `results_registry.adapters`. The next release drops these."""
