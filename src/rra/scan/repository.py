"""Scanning a repository: what it declares, how it is run, what will get in the way.

Nothing of the repository is run or imported; texts are read within the bounds of
`rra.scan.inventory` and `rra.scan.text`.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base.files import missing
from rra.artifact.notebook import read_cells
from rra.errors import FormatError, Problem, UsageError
from rra.scan import dataflow, facts, sources
from rra.scan.builds import BUILD_FILE, Builds, compiled, read_builds
from rra.scan.codefiles import read_python_files
from rra.scan.commands import Places, nested_commands, read_document, rule_scripts
from rra.scan.configs import configured_data
from rra.scan.documents import DocumentLine, document_lines, notebook_lines, shell_lines
from rra.scan.filenames import looks_like_result
from rra.scan.inventory import MAX_FILES, take_inventory
from rra.scan.objects import (
    AbsolutePath,
    Command,
    EntryPoint,
    Output,
    PythonFile,
    ResultsTable,
    Scan,
)
from rra.scan.order import find_order, order_problems
from rra.scan.pages import html_lines
from rra.scan.parameters import Modules, console_scripts
from rra.scan.parameters.scripts import flag_problems, with_command_lines
from rra.scan.reach import files_behind
from rra.scan.results import document_results
from rra.scan.runs import Code, find_runs
from rra.scan.snakefiles import snakefile_lines, snakefile_scripts
from rra.scan.text import read_text
from rra.scan.traits.repository import Seen, repository_traits, script_problems, trait_problems
from rra.scan.windows import batch_lines, is_batch

_PYTHON2_MODULES = frozenset(
    {"cPickle", "ConfigParser", "urllib2", "Queue", "StringIO", "__builtin__", "commands"}
    | {"httplib", "urlparse", "cStringIO", "HTMLParser", "Tkinter", "distutils", "imp"}
)
_NOT_INSTALLED = sys.stdlib_module_names | _PYTHON2_MODULES
_MAX_NOTEBOOKS = 200
_MAX_SCRIPTS = 1_000


def scan_repository(root: Path, *, progress: Callable[[str], None] | None = None) -> Scan:
    """Find out what a repository declares and how it is run, without running anything of it.

    Args:
        root: The repository's directory.
        progress: Called with one line of text per step.

    Raises:
        UsageError: There is no such directory.
    """
    _insist_on_directory(root)
    tell = progress or _silent
    tell("listing files")
    inventory = take_inventory(root)
    files = inventory.files
    problems: list[Problem] = []
    if inventory.truncated:
        problems.append(_warning(f"only the first {MAX_FILES} files were looked at", "."))
    tell(f"reading code and documents among {len(files)} files")
    modules = Modules(files, functools.lru_cache(256)(lambda path: read_text(root / path)))
    python_files = with_command_lines(read_python_files(root, files, problems), modules)
    shell_texts = sources.shell_sources(root, files)
    documents = sources.documents(root, files)
    scripts = console_scripts(modules)
    build_files = sources.read_texts(root, files, lambda p: bool(BUILD_FILE.search(p.name)))
    root_texts = dict(sources.root_texts(root, files))
    imports = facts.third_party(python_files, _NOT_INSTALLED)
    builds = read_builds(build_files, files, scripts)
    packages = _packages_named(root_texts) | frozenset(imports)
    lines, places = _lines(documents, shell_texts, builds, files, packages)
    commands, inner = _commands(lines, places)
    nested = (*inner, *_nested(root, shell_texts, places))
    behind = _Reach(python_files, shell_texts, files, nested)
    entry_points = _entry_points(commands, nested, python_files, shell_texts, files)
    started = commands + nested
    foreign = sources.foreign_files(root, files)
    scripts_run = _scripts(entry_points, python_files, foreign, behind)
    known = Code(python_files, foreign, files, behind.imports, builds.installed)
    runs = find_runs(scripts_run, started, known)
    outputs = dataflow.find_outputs(files, runs)
    data = dataflow.find_data_paths(files, python_files, runs, configured_data(root, files))
    order = find_order(runs, builds.makefiles, behind.__getitem__, _documented(commands))
    others = sources.setting_texts(root, files)
    paths = facts.absolute_paths(python_files, shell_texts, others, commands)
    problems += [*order_problems(order), *_skip_problems(python_files, outputs)]
    problems += [*_path_problems(paths), *flag_problems((*commands, *nested), python_files)]
    result_files = tuple(path for path in files if looks_like_result(path))
    hints = facts.python_hints(root_texts, commands)
    tell("looking at notebooks, links and dates")
    seeds = tuple(seed for one in foreign.values() for seed in one.seeds)
    code = (python_files, shell_texts, started, outputs, result_files)
    seen = Seen(root, files, *code, hints, imports, behind.__getitem__, data, seeds)
    traits = repository_traits(seen)
    problems += [*trait_problems(traits), *script_problems(root, shell_texts, started)]
    return Scan(
        root=root.resolve(),
        files=files,
        entry_points=entry_points,
        commands=commands,
        python_files=python_files,
        notebooks=tuple(path for path in files if path.suffix == ".ipynb"),
        results=_results(documents, lines),
        imports=imports,
        manifests=tuple(path for path in files if facts.is_manifest(path)),
        absolute_paths=paths,
        data_files=dataflow.find_data_files(files, data),
        data_paths=data,
        outputs=outputs,
        result_files=result_files,
        order_issues=order,
        licence=facts.find_licence(root_texts),
        python=hints,
        problems=tuple(problems),
        truncated=inventory.truncated,
        traits=traits,
        console_scripts=scripts,
        nested_commands=nested,
    )


def _insist_on_directory(root: Path) -> None:
    if not root.is_dir():
        if root.exists():
            hint = f"give its directory; rra init {root} unpacks an archive first"
            raise UsageError(f"{root} is a file, and a directory is scanned", hint=hint)
        raise UsageError(missing(root), hint="give the repository's directory")


def files_behind_script(scan: Scan, script: PurePosixPath) -> tuple[PurePosixPath, ...]:
    """Return a script and every file of the repository that it imports or starts."""
    texts = sources.shell_sources(scan.root, scan.files)
    return files_behind(script, scan.python_files, texts, scan.files)


def third_party_imports(root: Path, files: Iterable[PurePosixPath]) -> tuple[str, ...]:
    """Return the top-level names that code imports and that are neither local nor standard.

    Args:
        root: Directory of the code.
        files: The code's files, relative to it.
    """
    sizes = {path: _size(root / path) for path in files if path.suffix in {".py", ".ipynb"}}
    return facts.third_party(read_python_files(root, sizes, []), _NOT_INSTALLED)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _silent(line: str) -> None:
    del line


def _warning(
    message: str, path: PurePosixPath | str, line: int | None = None, clause: str = "scan"
) -> Problem:
    return Problem(message, str(path), line, clause=clause, severity="warning")


class _Reach(dict[PurePosixPath, tuple[PurePosixPath, ...]]):
    """Files behind each script, worked out when first asked for."""

    def __init__(
        self,
        python_files: Mapping[PurePosixPath, PythonFile],
        shell_texts: Mapping[PurePosixPath, str],
        files: Mapping[PurePosixPath, int],
        nested: Iterable[Command],
    ) -> None:
        super().__init__()
        self._sources = (python_files, shell_texts, files)
        self._started: dict[PurePosixPath, dict[PurePosixPath, None]] = {}
        for command in nested:
            if command.script is not None and command.source in shell_texts:
                self._started.setdefault(command.source, {})[command.script] = None

    def __missing__(self, script: PurePosixPath) -> tuple[PurePosixPath, ...]:
        found: dict[PurePosixPath, None] = {}
        pending = [script]
        while pending:
            for path in files_behind(pending.pop(0), *self._sources):
                if path not in found:
                    found[path] = None
                    pending += self._started.get(path, ())
        self[script] = tuple(found)
        return self[script]

    def imports(self, script: PurePosixPath) -> tuple[PurePosixPath, ...]:
        """Return a script and what it imports, without what it starts."""
        return self[script] if script.suffix in {".py", ".ipynb"} else (script,)


def _lines(
    documents: Mapping[PurePosixPath, str],
    shell_texts: Mapping[PurePosixPath, str],
    builds: Builds,
    files: Mapping[PurePosixPath, int],
    packages: frozenset[str],
) -> tuple[dict[PurePosixPath, list[DocumentLine]], Places]:
    """Return the lines of documents that may be commands, and what these are resolved against."""
    lines = {path: _document_lines(path, text, builds) for path, text in documents.items()}
    scripts = [shell_lines(text) for text in shell_texts.values()]
    known = packages | _packages_installed(line for document in lines.values() for line in document)
    return lines, _places(files, builds, [*lines.values(), *scripts], known)


def _packages_installed(lines: Iterable[DocumentLine]) -> frozenset[str]:
    """Return the names of packages that documents have somebody install, as modules."""
    texts = (line.text for line in lines if re.search(r"\binstall\b|\badd\b", line.text))
    words = {word for text in texts for word in re.findall(r"(?<![\w/-])[A-Za-z][\w.-]*", text)}
    return frozenset(re.sub(r"[-.]", "_", word) for word in words)


def _packages_named(root_texts: Mapping[PurePosixPath, str]) -> frozenset[str]:
    """Return the names that manifests at the top of the repository mention, as modules."""
    texts = (text for path, text in root_texts.items() if facts.is_manifest(path))
    words = {word for text in texts for word in re.findall(r"[A-Za-z][\w.-]*", text)}
    return frozenset(re.sub(r"[-.]", "_", word) for word in words)


def _document_lines(path: PurePosixPath, text: str, builds: Builds) -> list[DocumentLine]:
    if path.suffix.lower() in {".html", ".htm"}:
        return html_lines(text, builds.names)
    return document_lines(path, text, builds.names)


def _places(
    files: Mapping[PurePosixPath, int],
    builds: Builds,
    lines: Iterable[Iterable[DocumentLine]],
    packages: frozenset[str],
) -> Places:
    """Return what commands are resolved against, with programs that documents compile."""
    folders = {parent for path in files for parent in path.parents}
    programs = dict(builds.programs)
    for document in lines:
        for name in (name for line in document for name in compiled(line.text)):
            place = PurePosixPath(name)
            if place not in files:
                programs.setdefault(place, PurePosixPath())
    return Places(files, folders, dataclasses.replace(builds, programs=programs), packages)


def _commands(
    lines: Mapping[PurePosixPath, list[DocumentLine]], places: Places
) -> tuple[tuple[Command, ...], tuple[Command, ...]]:
    """Read the commands of all documents, and those that lines join; the first of equals counts."""
    found: dict[tuple[object, ...], Command] = {}
    inner: dict[tuple[object, ...], Command] = {}
    for source, document in lines.items():
        read = read_document(document, source, places)
        for command in read.commands:
            found.setdefault((command.argv, command.workdir, command.variables), command)
        for command in read.inner:
            inner.setdefault((command.argv, command.workdir, command.text), command)
    return tuple(found.values()), tuple(inner.values())


def _nested(
    root: Path, shell_texts: Mapping[PurePosixPath, str], places: Places
) -> tuple[Command, ...]:
    """Read the commands of shell scripts, Makefiles and notebooks."""
    found: list[Command] = []
    for path, text in shell_texts.items():
        makefile = places.builds.makefiles.get(path)
        if makefile is None:
            found += nested_commands(shell_lines(text), path, places)
        else:
            lines = [DocumentLine(command, number, 0) for number, command in makefile.recipes]
            found += nested_commands(lines, path, places, each_line_alone=True)
    for path, text in sources.batch_sources(root, places.files).items():
        found += nested_commands(batch_lines(text), path, places)
    for path, text in sources.snakefiles(root, places.files).items():
        found += nested_commands(snakefile_lines(text), path, places)
        found += rule_scripts(snakefile_scripts(text), path, places)
    for path in [path for path in places.files if path.suffix == ".ipynb"][:_MAX_NOTEBOOKS]:
        try:
            cells = read_cells(root / path)
        except (FormatError, OSError, UnicodeDecodeError):
            continue  # already among the problems
        code = [cell.source for cell in cells if cell.kind == "code"]
        found += nested_commands(notebook_lines(code), path, places)
    return tuple(found)


def _scripts(
    entry_points: Iterable[EntryPoint],
    python_files: Mapping[PurePosixPath, PythonFile],
    foreign: Iterable[PurePosixPath],
    behind: _Reach,
) -> list[PurePosixPath]:
    """Return the scripts that may be run, and the code that none of them imports."""
    scripts = [entry.path for entry in entry_points if entry.kind in {"python", "notebook"}]
    scripts += foreign
    reached = {path for script in scripts[:_MAX_SCRIPTS] for path in behind.imports(script)}
    return [*scripts, *(path for path in python_files if path not in reached)]


def _documented(commands: Iterable[Command]) -> list[PurePosixPath]:
    """Return the scripts that documents run, in their order."""
    return [c.script for c in commands if c.script is not None and c.kind == "run"]


def _entry_points(
    commands: tuple[Command, ...],
    nested: tuple[Command, ...],
    python_files: Mapping[PurePosixPath, PythonFile],
    shell_texts: Mapping[PurePosixPath, str],
    files: Mapping[PurePosixPath, int],
) -> tuple[EntryPoint, ...]:
    documented = _documented(commands)
    paths = list(dict.fromkeys(documented))
    for path, python in python_files.items():
        meant = python.guarded or python.parser or (python.runs and len(path.parts) <= 2)
        is_test = path.name.startswith(("test_", "conftest", "setup.py")) or "tests" in path.parts
        if path.suffix == ".py" and meant and not is_test:
            paths.append(path)
    paths += _documented(nested)
    paths += [path for path in shell_texts if not path.name.lower().endswith("makefile")]
    paths += [path for path in files if path.suffix == ".ipynb"]
    return tuple(
        _entry_point(
            path, python_files.get(path), documented=path in documented, shell=path in shell_texts
        )
        for path in dict.fromkeys(paths)
    )


def _entry_point(
    path: PurePosixPath, python: PythonFile | None, *, documented: bool, shell: bool
) -> EntryPoint:
    kind = {".py": "python", ".ipynb": "notebook"}.get(path.suffix, "other")
    if path.name.lower().endswith("makefile"):
        kind = "make"
    elif shell or is_batch(path):
        kind = "shell"
    if python is None:
        return EntryPoint(path, kind, documented)  # type: ignore[arg-type]
    return EntryPoint(path, kind, documented, python.command_line)  # type: ignore[arg-type]


def _path_problems(paths: tuple[AbsolutePath, ...]) -> Iterator[Problem]:
    for found in paths:
        message = f"path of another machine: {found.text}"
        yield _warning(message, found.path, found.line, "scan/absolute-path")


def _skip_problems(
    python_files: Mapping[PurePosixPath, PythonFile], outputs: Iterable[Output]
) -> Iterator[Problem]:
    """Report scripts that look for a committed file which they also write: a silent skip."""
    for output in outputs:
        checks = python_files[output.writer].checks if output.writer in python_files else ()
        for check in checks:
            if (
                output.committed
                and check.pattern.rpartition("/")[2] == (output.pattern.rpartition("/")[2])
            ):
                message = (
                    f"looks whether {output.pattern} exists, which is committed and written here: "
                    "it may skip its work"
                )
                yield _warning(message, output.writer, check.line, "scan/skips-when-present")
                break


def _results(
    documents: Mapping[PurePosixPath, str], lines: Mapping[PurePosixPath, list[DocumentLine]]
) -> tuple[ResultsTable, ...]:
    """Return the first kind of results that exists: READMEs' tables, others' tables, sentences."""
    tables: list[ResultsTable] = []
    sentences: list[ResultsTable] = []
    for path, text in documents.items():
        if path.suffix.lower() in {".html", ".htm"}:
            continue  # a page repeats the README, or is made from it
        found, said = document_results(text, path, lines[path])
        if not (tables and not path.name.lower().startswith("readme")):
            tables += found
        if path.name.lower().startswith("readme") and len(path.parts) == 1:
            sentences += said
    return tuple(tables or sentences)
