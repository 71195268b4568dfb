"""The client under its name of release 0.1; import `results_registry` instead. The next release drops this module."""

from results_registry import *  # noqa: F403
from results_registry import __all__  # noqa: F401
