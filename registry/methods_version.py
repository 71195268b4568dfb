"""Version of the statistical methods, which is stored beside everything computed.

A module of its own, so that a process that computes nothing does not load numpy and scipy to know it.
"""

METHODS_VERSION = "15"
"""Changes whenever a stored answer would come out differently: another number, or another field."""
