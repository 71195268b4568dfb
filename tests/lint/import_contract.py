"""A contract for import-linter: the only modules that a package may import directly, besides the standard library."""

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """Every direct import of the source packages is of an allowed package, of the sources or of the library.

    Attributes
    ----------
    source_modules : packages whose modules are checked
    allowed_modules : packages that they may import, each with all its modules
    """

    type_name = "only"
    source_modules = fields.ListField(subfield=fields.StringField())
    allowed_modules = fields.ListField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        allowed = {*self.source_modules, *(self.allowed_modules or ()), *sys.stdlib_module_names}
        sources = [module for module in sorted(graph.modules) if _is_within(module, set(self.source_modules))]
        wrong = [
            (module, imported)
            for module in sources
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if not _is_within(imported, allowed)
        ]
        return ContractCheck(kept=bool(sources) and not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: Any) -> None:
        for module, imported in check.metadata["wrong"]:
            output.print_error(f"{module} imports {imported}")


def _is_within(module: str, packages: set[str]) -> bool:
    parts = module.split(".")
    return any(".".join(parts[:count]) in packages for count in range(1, len(parts) + 1))
