"""The commands of `registry`, one module a command or a family; `registry.cli` names them all and imports none.

A command raises errors of `registry.errors`; the group turns them into one sentence and an exit status.
"""
