"""The adapters under their names of release 0.1; import `results_registry.adapters`. The next release drops these."""

import warnings

warnings.warn(
    "registry.adapters is results_registry.adapters now; 0.3 drops the old name", DeprecationWarning, stacklevel=2
)
