"""Which versions of Python can run a module, as its syntax and the names that it uses tell."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator

from rra.scan.constants import dotted

Version = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class VersionClue:
    """A construct that some versions do not have.

    Attributes:
        version: The first version that has it, or the first that does not have it any more.
        what: The construct, in words.
        line: Line of it.
        removed: Whether `version` is the first without it.
    """

    version: Version
    what: str
    line: int
    removed: bool = False


_NODES: tuple[tuple[type[ast.AST], Version, str], ...] = (
    (ast.JoinedStr, (3, 6), "f-string"),
    (ast.AnnAssign, (3, 6), "annotated variable"),
    (ast.NamedExpr, (3, 8), ":="),
    (ast.Match, (3, 10), "match"),
    (ast.TryStar, (3, 11), "except*"),
    (ast.AsyncFunctionDef, (3, 5), "async def"),
    (ast.YieldFrom, (3, 3), "yield from"),
    (ast.Nonlocal, (3, 0), "nonlocal"),
)
_ADDED_MODULES: dict[str, Version] = {
    "dataclasses": (3, 7),
    "contextvars": (3, 7),
    "importlib.resources": (3, 7),
    "importlib.metadata": (3, 8),
    "zoneinfo": (3, 9),
    "graphlib": (3, 9),
    "tomllib": (3, 11),
    "pathlib": (3, 4),
    "typing": (3, 5),
    "asyncio": (3, 4),
}
_REMOVED_MODULES: dict[str, Version] = {
    **dict.fromkeys(("imp", "distutils", "asyncore", "asynchat", "smtpd"), (3, 12)),
    **dict.fromkeys(("cgi", "crypt", "telnetlib", "pipes", "imghdr", "sndhdr", "nntplib"), (3, 13)),
    **dict.fromkeys(
        ("cPickle", "ConfigParser", "urllib2", "Queue", "StringIO", "cStringIO"), (3, 0)
    ),
    **dict.fromkeys(("httplib", "urlparse", "HTMLParser", "Tkinter", "__builtin__"), (3, 0)),
}
_REMOVED_NAMES: dict[str, Version] = {
    **{
        f"collections.{name}": (3, 10)
        for name in ("Mapping", "MutableMapping", "Iterable", "Sequence", "Callable", "Hashable")
    },
    "time.clock": (3, 8),
    "fractions.gcd": (3, 9),
    "inspect.getargspec": (3, 11),
    "base64.decodestring": (3, 9),
    "base64.encodestring": (3, 9),
    "xml.etree.cElementTree": (3, 9),
    "platform.linux_distribution": (3, 8),
    "itertools.izip": (3, 0),
    "itertools.imap": (3, 0),
    "string.letters": (3, 0),
    "os.getcwdu": (3, 0),
    "string.maketrans": (3, 0),
    "sys.maxint": (3, 0),
}
_ADDED_NAMES: dict[str, Version] = {
    "functools.cached_property": (3, 8),
    "math.prod": (3, 8),
    "math.dist": (3, 8),
    "functools.cache": (3, 9),
    "typing.Annotated": (3, 9),
    "typing.Literal": (3, 8),
    "typing.Protocol": (3, 8),
    "typing.TypedDict": (3, 8),
    "typing.Final": (3, 8),
    "typing.ParamSpec": (3, 10),
    "typing.TypeAlias": (3, 10),
    "itertools.pairwise": (3, 10),
    "typing.Self": (3, 11),
    "datetime.UTC": (3, 11),
    "itertools.batched": (3, 12),
}
_BUILTINS2 = frozenset(
    {"xrange", "raw_input", "unicode", "unichr", "basestring", "execfile", "reduce"}
)
_GENERIC = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})
_TEXT_CLUES: tuple[tuple[str, Version, str, bool], ...] = (
    (r"^\s*print\s+[^(\s=]|^\s*print\s*$", (3, 0), "print statement", True),
    (r"^\s*except [\w.]+\s*,\s*\w+\s*:", (3, 0), "except with a comma", True),
    (r"^\s*exec\s+[\"'\w]", (3, 0), "exec statement", True),
    (r"^\s*raise\s+\w+\s*,", (3, 0), "raise with a comma", True),
    (
        r"(?<![\w.])\d+[lL]\b|(?<![\w.])0[0-7]+\b(?!\.)|<>|`\w+`",
        (3, 0),
        "notation of Python 2",
        True,
    ),
    (r"\basync\s*=\s*(?:True|False)", (3, 7), "async as a name", True),
    (
        r"^\s*(?:type \w+(?:\[[^\]]*\])? = |def \w+\[|class \w+\[)",
        (3, 12),
        "type parameters",
        False,
    ),
)


def tree_clues(tree: ast.Module) -> tuple[VersionClue, ...]:
    """Return the constructs of a module that some versions of Python do not have.

    What stands inside ``try`` or a condition on the version has an alternative and is no clue.

    Args:
        tree: The module.
    """
    lazy = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )
    found = list(_clues(tree, lazy=lazy, own=_defined(tree)))
    if lazy:
        found.append(VersionClue((3, 7), "from __future__ import annotations", 1))
    best: dict[tuple[Version, str, bool], VersionClue] = {}
    for clue in found:
        best.setdefault((clue.version, clue.what, clue.removed), clue)
    return tuple(best.values())


def text_clues(text: str) -> tuple[VersionClue, ...]:
    """Return the clues of code that cannot be parsed by this Python."""
    found: list[VersionClue] = []
    for pattern, version, what, removed in _TEXT_CLUES:
        match = re.search(pattern, text, re.MULTILINE)
        if match and not (what == "notation of Python 2" and found):
            line = text.count("\n", 0, match.start()) + 1
            found.append(VersionClue(version, what, line, removed))
    return tuple(found)


def _defined(tree: ast.Module) -> set[str]:
    """Return the names that a module binds anywhere, imports included."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def _clues(node: ast.AST, *, lazy: bool, own: set[str]) -> Iterator[VersionClue]:
    """Walk a tree without what has an alternative."""
    if isinstance(node, ast.Try):
        rest: list[ast.AST] = [*node.orelse, *node.finalbody]
    elif isinstance(node, ast.If) and re.search(r"version|PY[23]", ast.unparse(node.test)):
        rest = []
    else:
        rest = list(ast.iter_child_nodes(node))
        yield from _of(node, lazy=lazy, own=own)
    for child in rest:
        yield from _clues(child, lazy=lazy, own=own)


def _of(node: ast.AST, *, lazy: bool, own: set[str]) -> Iterator[VersionClue]:
    line = getattr(node, "lineno", 1)
    for kind, version, what in _NODES:
        if isinstance(node, kind):
            yield VersionClue(version, what, line)
    if isinstance(node, ast.arguments):
        yield from _of_arguments(node)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        yield VersionClue((3, 5), "@ between matrices", line)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from _of_import(node)
    elif isinstance(node, ast.Attribute):
        yield from _of_name(dotted(node), line)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from _of_call(node, node.func.id, own)
    annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
    if annotation is not None and not lazy:
        yield from _of_annotation(annotation)


def _of_arguments(node: ast.arguments) -> Iterator[VersionClue]:
    for parameter in node.posonlyargs[:1]:
        yield VersionClue((3, 8), "positional-only parameter", parameter.lineno)
    for parameter in node.kwonlyargs[:1]:
        yield VersionClue((3, 0), "keyword-only parameter", parameter.lineno)


def _of_import(node: ast.Import | ast.ImportFrom) -> Iterator[VersionClue]:
    modules = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level or not node.module:
            return
        for name in modules:
            yield from _of_name(f"{node.module}.{name}", node.lineno)
        modules = [node.module]
    for module in modules:
        top = module if module in _ADDED_MODULES else module.partition(".")[0]
        if top in _ADDED_MODULES:
            yield VersionClue(_ADDED_MODULES[top], f"import {top}", node.lineno)
        if top in _REMOVED_MODULES:
            yield VersionClue(_REMOVED_MODULES[top], f"import {top}", node.lineno, removed=True)
        yield from _of_name(module, node.lineno)


def _of_name(name: str, line: int) -> Iterator[VersionClue]:
    if name in _REMOVED_NAMES:
        yield VersionClue(_REMOVED_NAMES[name], name, line, removed=True)
    elif name in _ADDED_NAMES:
        yield VersionClue(_ADDED_NAMES[name], name, line)


def _of_call(node: ast.Call, name: str, own: set[str]) -> Iterator[VersionClue]:
    if name in _BUILTINS2 and name not in own:
        yield VersionClue((3, 0), f"{name}()", node.lineno, removed=True)
    elif name == "zip" and any(keyword.arg == "strict" for keyword in node.keywords):
        yield VersionClue((3, 10), "zip(strict=)", node.lineno)


def _of_annotation(node: ast.expr) -> Iterator[VersionClue]:
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            yield VersionClue((3, 10), "X | Y as a type", part.lineno)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and part.value.id in _GENERIC
        ):
            yield VersionClue((3, 9), f"{part.value.id}[…] as a type", part.lineno)
