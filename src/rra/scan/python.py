"""Reading one Python file: imports, arguments, files, paths; nothing of it is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.constants import dotted, module_constants
from rra.scan.fileuse import FileUses, existence_checks, file_uses
from rra.scan.objects import PythonFile, TextLiteral
from rra.scan.parameters.python2 import as_python3
from rra.scan.scopes import LocalCall
from rra.scan.traits.code import code_traits, text_traits

_SEED = re.compile(
    r"(?:manual_seed(?:_all)?|random\.seed|set_seed|seed_everything|set_random_seed|PRNGKey|"
    r"default_rng|RandomState)$"
)
_PYTHON2 = re.compile(
    r"^\s*print\s+[^(\s=]|^\s*except [\w.]+\s*,\s*\w+:|\bxrange\(|^\s*exec\s+[\"']", re.MULTILINE
)
_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_][\w.]*)", re.MULTILINE)
_STATEMENT = re.compile(r"^(?:print\b|for |while |with |[\w.]+\()", re.MULTILINE)
_PRINT2 = re.compile(r"^\s*print\b(?!\s*>>)(.*)$", re.MULTILINE)
_ASK = re.compile(r"^[^#\n'\"]*?(?<![\w.])((?:raw_)?input)\s*\(", re.MULTILINE)
_PRINTERS = re.compile(
    r"^(?:print|pprint|pprint\.pprint|sys\.stdout\.write|tqdm\.write|click\.echo|display)$|"
    r"^log(?:ger|ging)?\.(?:info|warning|debug|error|log)$"
)
_MAX_LITERAL = 300
ConstantLookup = Callable[[str], Mapping[str, str]]


def read_python(
    path: PurePosixPath,
    text: str,
    constants_of: ConstantLookup | None = None,
    incoming: Mapping[str, list[LocalCall]] | None = None,
) -> PythonFile:
    """Read one file.

    Args:
        path: Its place in the repository.
        text: Its content.
        constants_of: Gives the path constants of a local module by its dotted name, so that
            ``from config import RESULTS`` is understood.
        incoming: Calls that other files make, by the name of the function of this one.
    """
    tree = parse(text)
    if isinstance(tree, str):
        return _unparsed(path, text, tree)
    known = _imported_constants(tree, constants_of) if constants_of is not None else {}
    names = module_constants(tree, known)
    uses = file_uses(tree, names, imported_names(tree), incoming or {})
    imports, local = _imports(tree)
    return PythonFile(
        path=path,
        imports=frozenset(imports),
        local_imports=frozenset(local),
        guarded=any(_is_guard(node) for node in tree.body),
        runs=_does_something(tree),
        reads=uses.reads,
        writes=uses.writes,
        calls=uses.calls,
        checks=existence_checks(tree, names),
        strings=tuple(_path_like_strings(tree)),
        seeds=tuple(sorted(_seed_lines(tree))),
        printed=tuple(literal for call in _printing(tree) for literal in _literals(call)),
        prints=any(True for _ in _printing(tree)),
        asks=tuple(sorted(_asking_lines(tree))),
        traits=code_traits(tree, names, path),
    )


def parse(text: str) -> ast.Module | str:
    """Return the syntax tree of a module, or one line that says why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__


def read_constants(text: str) -> dict[str, str]:
    """Return the path constants of a module; none when it cannot be parsed."""
    tree = parse(text)
    return {} if isinstance(tree, str) else module_constants(tree)


def _unparsed(path: PurePosixPath, text: str, why: str) -> PythonFile:
    """Read what regular expressions can tell of a file that is not Python 3."""
    strings = [
        TextLiteral(found[2], text.count("\n", 0, found.start()) + 1)
        for found in re.finditer(r"(['\"])([^'\"\n]{2,300})\1", text)
        if looks_like_path(found[2])
    ]
    names = {found.split(".")[0] for found in _IMPORT.findall(text)}
    older = parse(as_python3(text))
    uses = FileUses()
    if not isinstance(older, str):
        uses = file_uses(older, module_constants(older), imported_names(older), {})
    return PythonFile(
        path=path,
        imports=frozenset(names),
        local_imports=frozenset(_IMPORT.findall(text)),
        guarded="__main__" in text,
        runs=bool(_STATEMENT.search(text)),
        reads=uses.reads,
        writes=uses.writes,
        strings=tuple(strings),
        printed=tuple(_printed_lines(text)),
        prints=bool(_PRINT2.search(text)),
        asks=tuple(text.count("\n", 0, m.start(1)) + 1 for m in _ASK.finditer(text)),
        syntax_error=why,
        python2=bool(_PYTHON2.search(text)),
        traits=text_traits(text, path),
    )


def _imports(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return top-level names of absolute imports, and all modules as written."""
    top: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top.add(alias.name.split(".")[0])
                modules.add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            if node.level == 0 and node.module:
                top.add(node.module.split(".")[0])
            modules.add(prefix)
            separator = "" if prefix.endswith(".") else "."
            modules.update(f"{prefix}{separator}{alias.name}" for alias in node.names)
    return top, modules


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, and what they stand for, with leading dots."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            separator = "" if not prefix or prefix.endswith(".") else "."
            for alias in node.names:
                found[alias.asname or alias.name] = f"{prefix}{separator}{alias.name}"
    return found


def _asking_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that call ``input`` or ``raw_input``, unless the module defines them."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name in {"input", "raw_input"} and name not in own:
                yield node.lineno


def _imported_constants(tree: ast.Module, constants_of: ConstantLookup) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            known = constants_of(node.module)
            for alias in node.names:
                if alias.name == "*":
                    found.update(known)
                elif alias.name in known:
                    found[alias.asname or alias.name] = known[alias.name]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                known = constants_of(alias.name)
                found.update({f"{alias.asname or alias.name}.{k}": v for k, v in known.items()})
    return found


def _is_guard(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )


def _does_something(tree: ast.Module) -> bool:
    """Tell whether the module does work when run, beyond defining and importing."""
    for node in tree.body:
        if isinstance(node, ast.For | ast.While | ast.With) or _is_guard(node):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = dotted(node.value.func)
            if not name.startswith(("sys.path", "warnings.", "logging.", "matplotlib.use")):
                return True
    return False


def _path_like_strings(tree: ast.Module) -> Iterator[TextLiteral]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and len(node.value) <= _MAX_LITERAL
            and looks_like_path(node.value)
        ):
            yield TextLiteral(node.value, node.lineno)


def looks_like_path(text: str) -> bool:
    """Tell whether a string may name a file: one line with a slash or a suffix."""
    if not 2 <= len(text) <= _MAX_LITERAL or any(c in text for c in "\n\t<>|\0"):
        return False
    if "://" in text:
        return False
    return "/" in text or "\\" in text or bool(re.search(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}$", text))


def _seed_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = _SEED.search(dotted(node.func)) and (node.args or node.keywords)
            if named or any(k.arg in {"random_state", "seed"} for k in node.keywords):
                yield node.lineno


def _printing(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls that print to standard output (or log, which often goes there)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _PRINTERS.search(dotted(node.func)):
            target = next((k.value for k in node.keywords if k.arg == "file"), None)
            if target is None or dotted(target) == "sys.stdout":
                yield node


def _literals(call: ast.Call) -> Iterator[TextLiteral]:
    """Yield the texts of a printing call; what only a run knows inside an f-string is ``{}``."""
    inside: set[int] = set()
    for node in ast.walk(call):
        if isinstance(node, ast.JoinedStr) and id(node) not in inside:
            inside.update(id(part) for part in ast.walk(node) if part is not node)
            parts = [_shown(part) for part in node.values]
            yield TextLiteral("".join(parts), node.lineno)
        elif (
            isinstance(node, ast.Constant)
            and id(node) not in inside
            and isinstance(node.value, str)
            and node.value.strip()
        ):
            yield TextLiteral(node.value, node.lineno)


def _shown(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        spec = part.format_spec
        return "{:" + _shown_spec(spec) + "}" if isinstance(spec, ast.JoinedStr) else "{}"
    return str(part.value) if isinstance(part, ast.Constant) else ""


def _shown_spec(spec: ast.JoinedStr) -> str:
    return "".join(str(v.value) for v in spec.values if isinstance(v, ast.Constant))


def _printed_lines(text: str) -> Iterator[TextLiteral]:
    """Yield the literals of ``print`` statements of Python 2."""
    for found in _PRINT2.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        for literal in re.findall(r"(['\"])(.*?)\1", found[1]):
            yield TextLiteral(literal[1], line)
