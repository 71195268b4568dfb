"""The client under its name of release 0.1; import `results_registry` instead. The next release drops this module."""

import warnings

from results_registry import *  # noqa: F403
from results_registry import __all__  # noqa: F401

warnings.warn("registry.client is results_registry now; 0.3 drops the old name", DeprecationWarning, stacklevel=2)
