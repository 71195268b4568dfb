"""Commands of `registry`, one module for a command or a family; `registry.cli` lists them all and imports none.

A command raises errors of `registry.errors`; the group turns them into one sentence and an exit status.
"""
