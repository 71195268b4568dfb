"""Python imports this module when it starts with this directory on its path: it patches what FAULTS_MUTANT names."""

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from fault_mutants import PATCHES, mutated

NAME = os.environ.get("FAULTS_MUTANT", "")


class MutantLoader(SourceFileLoader):
    """Compiles the mutated text; the cache of the true one is left alone."""

    def get_code(self, fullname: str) -> CodeType:
        text = mutated(NAME, fullname, self.get_data(self.path).decode())
        return compile(text, self.path, "exec", dont_inherit=True)


class MutantFinder(MetaPathFinder):
    """Finds the modules that the mutant changes before anybody else does."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not any(patch.module == fullname for patch in PATCHES[NAME]):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = MutantLoader(fullname, spec.origin)
        return spec


if NAME:
    sys.meta_path.insert(0, MutantFinder())
