"""See `results_registry.adapters.lightning`."""

from results_registry.adapters.lightning import RegistryLogger

__all__ = ["RegistryLogger"]
