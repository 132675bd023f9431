"""The Python files of a repository as syntax trees, found by the names that imports give."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Collection
from pathlib import PurePosixPath

from rra.scan.parameters.python2 import as_python3
from rra.scan.reach import local_module

_MARKS = re.compile(
    r"add_argument|ArgumentParser|OptionParser|add_option|\bclick\b|\btyper\b|\bDEFINE_\w+|\bfire\b|"
    r"\bhydra\b|\btyro\b|simple_parsing|draccus|sys\.argv|import argv|getopt|docopt|"
    r"\bTap\b|parse_args|jsonargparse|ConfigArg|cyclopts|LightningCLI|clize|plac\b|sacred"
)


class Modules:
    """Python files, parsed when first asked for.

    Args:
        files: All files of the repository.
        text_of: Returns the text of one of them, or None.
    """

    def __init__(
        self,
        files: Collection[PurePosixPath],
        text_of: Callable[[PurePosixPath], str | None],
    ) -> None:
        self.files = files
        self.text_of = text_of
        self._trees: dict[PurePosixPath, ast.Module | None] = {}
        self._marked: dict[PurePosixPath, bool] = {}
        self._imports: dict[PurePosixPath, tuple[PurePosixPath, ...]] = {}

    def tree(self, path: PurePosixPath) -> ast.Module | None:
        """Return the tree of a file; Python 2 is read as far as it can be made Python 3."""
        if path not in self._trees:
            text = self.text_of(path)
            self._trees[path] = None if text is None else parse(text)
        return self._trees[path]

    def find(self, name: str, importer: PurePosixPath) -> PurePosixPath | None:
        """Return the file that an import names, or None when it is not of the repository."""
        return local_module(name, importer, self.files)

    def matters(self, path: PurePosixPath) -> bool:
        """Tell whether a file, or one that it imports, names anything that reads commands."""
        pending, seen = [path], {path}
        while pending:
            current = pending.pop()
            if self.is_marked(current):
                return True
            for other in self._imported(current):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
        return False

    def is_marked(self, path: PurePosixPath) -> bool:
        """Tell whether a file itself names anything that reads commands."""
        if path not in self._marked:
            self._marked[path] = bool(_MARKS.search(self.text_of(path) or ""))
        return self._marked[path]

    def _imported(self, path: PurePosixPath) -> tuple[PurePosixPath, ...]:
        if path not in self._imports:
            names: dict[str, None] = {}
            tree = self.tree(path)
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.Import):
                    names |= dict.fromkeys(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    base = "." * node.level + (node.module or "")
                    dot = "" if base.endswith(".") else "."
                    names |= dict.fromkeys([base, *(f"{base}{dot}{a.name}" for a in node.names)])
            found = [self.find(name, path) for name in names]
            self._imports[path] = tuple(dict.fromkeys(f for f in found if f is not None))
        return self._imports[path]


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a module, or None."""
    for make in (str, as_python3):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(make(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None
