"""`python -m registry` is the command `registry`."""

from registry.cli import main

main()
