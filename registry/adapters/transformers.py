"""See `results_registry.adapters.transformers`."""

from results_registry.adapters.transformers import RegistryCallback

__all__ = ["RegistryCallback"]
