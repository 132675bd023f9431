"""Choosing the runs of a draft: one launcher for each documented command."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from rra.author.launchers import ParameterWord, Step, default_collect
from rra.author.main_language import main_language
from rra.author.names import slug, unique
from rra.scan import (
    Argument,
    Command,
    EntryPoint,
    Scan,
    arguments_for,
    files_behind_script,
    missing_import_roots,
    words_after,
)

MAX_LAUNCHERS = 24
"""More documented commands than these are named in a note only."""

_MAIN = re.compile(
    r"^(?:main|run|train|experiment|evaluate|eval|reproduce|demo|test)", re.IGNORECASE
)
_PYTHON = re.compile(r"python[0-9.]*")
_MODULE = re.compile(r"(?:\S+=\S+\s+)*python[0-9.]*\s+-m\s+([\w.]+)")
_PREPARES = re.compile(r"download|fetch|clean|prepare|preprocess|(?:^|_)get_", re.IGNORECASE)
_WITH_FLAGS = frozenset(
    {"argparse", "optparse", "click", "typer", "absl", "hydra", "tyro", "dataclass", "draccus"}
    | {"simple-parsing", "tap", "docopt", "getopt"}
)
_HELP = frozenset({"--help", "--version"})
_PATH = "PYTHONPATH"
SHOW_OUTPUTS = """\
import json, sys
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    for out in cell.get("outputs", []):
        text = out.get("text") or out.get("data", {}).get("text/plain") or ""
        print("".join(text))
"""
"""Program that prints what the cells of an executed notebook have printed."""


@dataclasses.dataclass(frozen=True)
class DraftParameter:
    """A parameter of a drafted launcher: its type, default and where it is declared."""

    name: str
    type: str
    default: str | int | float
    choices: tuple[str | int | float | bool, ...]


@dataclasses.dataclass(frozen=True)
class DraftLauncher:
    """A launcher as the draft will write it.

    Attributes:
        id: Its id.
        steps: Commands in order.
        origin: Where its command was found, in words.
        text: The command as documented.
        scripts: Files that its commands start, the one of the command itself last.
        behind: All files of the repository behind those.
        collect: Pattern in the copy of the code → place in the output directory.
        parameters: Parameters by name.
        packages: Packages that it needs beside those of the code.
        notes: Lines for the author, written as comments.
        missing: Whether no command was found and the author must give one.
    """

    id: str
    steps: tuple[Step, ...]
    origin: str
    text: str
    scripts: tuple[PurePosixPath, ...] = ()
    behind: tuple[PurePosixPath, ...] = ()
    collect: tuple[tuple[str, str], ...] = ()
    parameters: tuple[DraftParameter, ...] = ()
    packages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: bool = False


def draft_launchers(
    scan: Scan, declared: Sequence[DraftLauncher] = ()
) -> tuple[list[DraftLauncher], list[str]]:
    """Return the launchers of a draft and notes about commands that gave none.

    Those that a file declares come first, then commands of documents that start something else;
    without them entry points, then notebooks, then one
    launcher that the author has to complete.
    """
    notes: list[str] = []
    commands = [command for command in scan.commands if _is_usable(command, scan, notes)]
    taken = {launcher.id: launcher for launcher in declared}
    started = {script for launcher in declared for script in launcher.scripts}
    commands = [command for command in commands if command.script not in started]
    commands = _without_mentions(commands, scan, notes)
    for command in _without_preparations(commands, scan)[:MAX_LAUNCHERS]:
        launcher = _from_command(command, scan, taken)
        taken[launcher.id] = launcher
    if len(commands) > MAX_LAUNCHERS:
        notes.append(
            f"{len(commands)} documented commands; launchers were drafted for the first "
            f"{MAX_LAUNCHERS}"
        )
    if all(_only_prepares(launcher) for launcher in taken.values()):
        for entry in _undocumented(scan):
            if any(entry.path in launcher.scripts for launcher in taken.values()):
                continue
            launcher = _from_entry(entry, scan, taken)
            taken[launcher.id] = launcher
    if not taken:
        notes.append("no command was found that runs anything; write it into launchers/main.sh")
        taken["main"] = _missing()
    return list(taken.values()), notes


def _only_prepares(launcher: DraftLauncher) -> bool:
    """Tell whether a launcher seems to bring or to clean data, and to compute nothing."""
    return bool(launcher.scripts) and all(_PREPARES.search(s.stem) for s in launcher.scripts)


def _is_usable(command: Command, scan: Scan, notes: list[str]) -> bool:
    if command.kind != "run":
        return False
    place = f"{command.source}:{command.line}: `{command.text}`"
    if command.placeholders:
        notes.append(f"{place} has words to be replaced: {', '.join(command.placeholders)}")
        return False
    module = _MODULE.match(command.text)
    if module and command.script is None:
        notes.append(f"{place} runs the module {module[1]}, which is not in the repository")
        return False
    built = command.resolution == "built" or _is_built_somehow(command, scan)
    if command.script is None and command.target and not command.shell and not built:
        notes.append(f"{place} names {command.target}, which is not in the repository")
        return False
    opens = command.argv[:2] in {("jupyter", "lab"), ("jupyter", "notebook")}
    return command.script is not None or not opens


def _without_mentions(commands: list[Command], scan: Scan, notes: list[str]) -> list[Command]:
    """Leave out commands of the own package that running text only names, where blocks give some.

    A command that asks for help runs nothing that anybody reports.
    """
    own = {script.name for script in scan.console_scripts}
    commands = [one for one in commands if not _HELP.intersection(one.argv)]
    mentioned = [one for one in commands if one.inline and one.argv[:1] and one.argv[0] in own]
    if not mentioned or len(mentioned) == len(commands):
        return commands
    notes += [
        f"{one.source}:{one.line}: `{one.text}` is named in running text; no launcher was drafted"
        for one in mentioned
    ]
    return [one for one in commands if one not in mentioned]


def _without_preparations(commands: list[Command], scan: Scan) -> list[Command]:
    """Leave out commands that only make files for other commands: those run them first."""
    scripts = {command.script for command in commands}
    first = {
        issue.first
        for issue in scan.order_issues
        if issue.then in scripts and issue.first in scripts
    }
    last = {issue.then for issue in scan.order_issues if issue.first in scripts}
    kept = [command for command in commands if command.script not in first - last]
    return kept or commands


def _preparations(script: PurePosixPath | None, scan: Scan) -> list[PurePosixPath]:
    """Return scripts that must run before one, in order: documented ones, and needed ones."""
    order: list[PurePosixPath] = []
    documented = {c.script for c in scan.commands if c.kind == "run"}

    def visit(then: PurePosixPath, seen: frozenset[PurePosixPath]) -> None:
        for issue in scan.order_issues:
            if issue.then != then or issue.first in seen or issue.first in order:
                continue
            if issue.first in documented or PurePosixPath(issue.file) not in scan.files:
                visit(issue.first, seen | {issue.first})
                order.append(issue.first)

    if script is not None:
        visit(script, frozenset({script}))
    return order


def _from_command(command: Command, scan: Scan, taken: dict[str, DraftLauncher]) -> DraftLauncher:
    notebook = command.script if command.script and command.script.suffix == ".ipynb" else None
    if notebook is not None and command.argv[0] == "jupyter":
        return _from_notebook(notebook, f"{command.source}:{command.line}", scan, taken)
    before: list[Step] = []
    if command.resolution == "built" or _is_built_somehow(command, scan):
        before = _build_steps(command, scan)
    first = _preparations(command.script, scan)
    before += [_script_step(script, scan) for script in first]
    words, parameters = _parametrised(command, scan)
    step = Step(words, command.workdir, command.variables)
    scripts = (*first, *([command.script] if command.script else []))
    behind = _behind(scripts, scan)
    steps, notes = _with_import_path([*before, step], scan)
    notes += [f"runs {script} first: its files are read by {command.script}" for script in first]
    return DraftLauncher(
        id=unique(_id_of(command, taken), taken),
        steps=steps,
        origin=f"{command.source}:{command.line}",
        text=command.text,
        scripts=scripts,
        behind=behind,
        collect=_collect(behind, scan, command),
        parameters=parameters,
        notes=(*notes, *_seed_note(parameters)),
    )


def _is_built_somehow(command: Command, scan: Scan) -> bool:
    """Tell whether a program that is not there may come from the build that documents give."""
    unknown = command.script is None and command.target.startswith("./")
    return unknown and any(c.kind == "build" for c in scan.commands)


def _build_steps(command: Command, scan: Scan) -> list[Step]:
    """Return the documented commands that build a program, or those that its build file implies."""
    documented = [c for c in scan.commands if c.kind == "build" and not c.placeholders]
    build_file = command.built_by
    if build_file is None:
        return [_plain_step(c) for c in documented]
    own = [c for c in documented if build_file in {c.script, c.built_by}]
    if build_file.name == "CMakeLists.txt":
        folder = str(build_file.parent)
        steps = [("cmake", "-S", ".", "-B", "build"), ("cmake", "--build", "build")]
        return [_plain_step(c) for c in own] or [Step(words, folder) for words in steps]
    if build_file.name == "Cargo.toml":
        return [Step(("cargo", "build", "--release"), str(build_file.parent))]
    return [_plain_step(own[0])] if own else [Step(("make",), str(build_file.parent))]


def _id_of(command: Command, taken: dict[str, DraftLauncher]) -> str:
    """Name a launcher by its script, and by the words that differ when the script has several."""
    stem = command.script.stem if command.script else command.target or command.argv[0]
    if command.script and command.script.name.lower() == "makefile":
        stem = "-".join(["make", *command.argv[1:]])
    plain = slug(PurePosixPath(stem).stem, otherwise="run")
    if plain in {"main", "run"} and command.workdir != ".":
        plain = slug(PurePosixPath(command.workdir).name)
    if plain not in taken:
        return plain
    if command.script and command.script not in taken[plain].scripts and command.script.parent.name:
        return slug(f"{command.script.parent.name} {plain}")
    words = command.text.split() if command.shell else list(command.argv)
    own = [w for w in words[1:] if w not in taken[plain].text.split() and not w.endswith(".py")]
    return slug(f"{plain} {' '.join(own)}") if own else plain


def _plain_step(command: Command) -> Step:
    return Step(command.argv, command.workdir, command.variables)


def _script_step(script: PurePosixPath, scan: Scan) -> Step:
    for command in scan.commands:
        if command.script == script and command.kind == "run" and not command.placeholders:
            return _plain_step(command)
    return Step(("bash" if script.suffix in {".sh", ".bash"} else "python", str(script)))


def _with_import_path(steps: Iterable[Step], scan: Scan) -> tuple[tuple[Step, ...], list[str]]:
    """Put folders on Python's path that the scripts import from and Python does not look in.

    Returns:
        The steps, and a line for each that was changed.
    """
    changed: list[Step] = []
    notes: list[str] = []
    for step in steps:
        script = _python_script(step)
        roots: dict[PurePosixPath, str] = {}
        if script in scan.python_files and not any(name == _PATH for name, _ in step.variables):
            behind = files_behind_script(scan, script)
            roots = missing_import_roots(script, behind, scan.python_files, scan.files)
        if roots:
            value = ":".join(posixpath.relpath(str(root), step.workdir) for root in roots)
            step = dataclasses.replace(step, variables=(*step.variables, (_PATH, value)))  # noqa: PLW2901
        notes += [
            f"{_PATH}: {script} imports {name} from {_folder(root)}, where python does not look"
            for root, name in roots.items()
        ]
        changed.append(step)
    return tuple(changed), notes


def _folder(root: PurePosixPath) -> str:
    return f"the folder {root}" if root.parts else "the top of the code"


def _python_script(step: Step) -> PurePosixPath:
    """Return the script that a step starts by its path, relative to the code; or the code."""
    words = [word for word in step.argv if isinstance(word, str)]
    if not words or not _PYTHON.fullmatch(words[0]):
        return PurePosixPath()
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    alone = words[1:2] != ["-m"] and script.endswith(".py") and not script.startswith("/")
    return PurePosixPath(posixpath.normpath(f"{step.workdir}/{script}" if alone else "."))


def _parametrised(
    command: Command, scan: Scan
) -> tuple[tuple[str | ParameterWord, ...], tuple[DraftParameter, ...]]:
    """Turn options of the command that the script declares into parameters."""
    python = scan.python_files.get(command.script) if command.script else None
    if python is None or python.parser not in _WITH_FLAGS or command.shell:
        return command.argv, ()
    names = scan.installed_as(python.path)
    words_given = words_after(command.argv, python.path, command.workdir, names)
    taken = arguments_for(python.command_line, words_given)
    by_flag = {flag: a for a in taken for flag in a.flags if a.takes_value}
    words: list[str | ParameterWord] = []
    parameters: dict[str, DraftParameter] = {}
    argument: Argument | None = None
    for word in command.argv:
        flag, equals, value = word.partition("=")
        if argument is not None:
            words.append(_take(argument, word, "", parameters) or word)
            argument = None
        elif equals and flag in by_flag and flag.startswith("--"):
            words.append(_take(by_flag[flag], value, f"{flag}=", parameters) or word)
        elif equals and f"{flag}=" in by_flag:
            words.append(_take(by_flag[f"{flag}="], value, f"{flag}=", parameters) or word)
        else:
            words.append(word)
            argument = by_flag.get(word)
    return tuple(words), tuple(parameters.values())


def _take(
    argument: Argument, text: str, prefix: str, parameters: dict[str, DraftParameter]
) -> ParameterWord | None:
    """Make a parameter of one option; None when its value is not of the declared type."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", argument.name)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,62}", name) or name in parameters:
        return None
    value: str | int | float = text
    try:
        if argument.type == "integer":
            value = int(text)
        elif argument.type == "number":
            value = float(text)
    except ValueError:
        return None
    if not text or (not isinstance(value, str) and str(value) != text):
        return None
    kind = "string" if argument.type == "boolean" else argument.type
    parameters[name] = DraftParameter(name, kind, value, argument.choices)
    return ParameterWord(name, prefix)


def _seed_note(parameters: Iterable[DraftParameter]) -> tuple[str, ...]:
    for parameter in parameters:
        if "seed" in parameter.name.lower() and isinstance(parameter.default, int):
            entry = f"seeds: {{parameter: {parameter.name}, values: [{parameter.default}]}}"
            return (f"if other seeds should be tried, add: {entry}",)
    return ()


def _behind(scripts: Iterable[PurePosixPath], scan: Scan) -> tuple[PurePosixPath, ...]:
    found = [path for script in scripts for path in files_behind_script(scan, script)]
    return tuple(dict.fromkeys(found))


def _collect(
    behind: tuple[PurePosixPath, ...], scan: Scan, command: Command | None
) -> tuple[tuple[str, str], ...]:
    """Collect what the files behind a launcher write into the repository."""
    own = (command.source, command.line) if command else None
    entries: dict[str, str] = {}
    for output in scan.outputs:
        # What the words of a command name is written by that command alone: README.md:12 or the
        # shell script that this launcher starts; what the code names, by every run of it.
        made = output.writer in behind and not output.given
        made = made or any(place == own or place[0] in behind for place in output.given)
        if made and output.inside and _is_worth(output.pattern):
            pattern, place = default_collect(output.pattern)
            if place not in {"stdout.txt", "stderr.txt"}:
                entries.setdefault(pattern, place)
    return tuple(entries.items())[:20]


def _is_worth(pattern: str) -> bool:
    return not re.search(r"[\\\x00-\x1f]|__pycache__|\.pyc$|(?:^|/)\.", pattern)


def _undocumented(scan: Scan) -> list[EntryPoint]:
    """Choose what to run where no document says it.

    Where the code is another language, a Python file beside it is not what makes the results.
    """
    imported = {
        other for path in scan.python_files for other in files_behind_script(scan, path)[1:]
    }
    python = [e for e in scan.entry_points if e.kind == "python" and e.path not in imported]
    guarded = [e for e in python if e.parser or scan.python_files[e.path].guarded]
    chosen = (guarded or python) if main_language(scan) == "Python" else []
    top = [e for e in chosen if len(e.path.parts) == 1]
    shells = [e for e in scan.entry_points if e.kind == "shell" and len(e.path.parts) == 1]
    shells = [e for e in shells if not re.search(r"install|setup|download", e.path.name)]
    named = [e for e in (*shells, *top) if _MAIN.match(e.path.name)]
    notebooks = [e for e in scan.entry_points if e.kind == "notebook"]
    shown = [e for e in notebooks if len(e.path.parts) == 1]
    deep = [e for e in chosen if _MAIN.match(e.path.name)]
    return (named or top or shells or [*deep, *shown] or chosen or notebooks)[:8]


def _from_entry(entry: EntryPoint, scan: Scan, taken: dict[str, DraftLauncher]) -> DraftLauncher:
    if entry.kind == "notebook":
        return _from_notebook(entry.path, "no document says how to run it", scan, taken)
    first = _preparations(entry.path, scan)
    program = "bash" if entry.kind == "shell" else "python"
    plain = [*(_script_step(script, scan) for script in first), Step((program, str(entry.path)))]
    behind = _behind([*first, entry.path], scan)
    steps, notes = _with_import_path(plain, scan)
    return DraftLauncher(
        id=unique(slug(entry.path.stem, otherwise="run"), taken),
        steps=steps,
        origin="no document gives a command; the script can be started",
        text=f"{program} {entry.path}",
        scripts=(*first, entry.path),
        behind=behind,
        collect=_collect(behind, scan, None),
        notes=tuple(notes),
    )


def _from_notebook(
    path: PurePosixPath, origin: str, scan: Scan, taken: dict[str, DraftLauncher]
) -> DraftLauncher:
    """Run a notebook from top to bottom, keep the executed copy, print its text outputs."""
    done = f"{path.stem}.executed.ipynb"
    execute = ("python", "-m", "nbconvert", "--to", "notebook", "--execute", path.name)
    workdir = str(path.parent)
    show = Step(("python", "-c", SHOW_OUTPUTS, done), workdir)
    behind = _behind([path], scan)
    collect = dict(_collect(behind, scan, None))
    collect[str(path.with_name(done))] = done
    python = scan.python_files.get(path)
    broken = python.syntax_error if python is not None else "it cannot be read as a notebook"
    notes = (f"{path} cannot run as it is: {broken}; mend it first",) if broken else ()
    return DraftLauncher(
        id=unique(slug(path.stem, otherwise="notebook"), taken),
        steps=(Step((*execute, "--output", done), workdir), show),
        origin=origin,
        text=f"the notebook {path}",
        scripts=(path,),
        behind=behind,
        collect=tuple(collect.items()),
        packages=("nbconvert", "ipykernel"),
        notes=notes,
    )


def _missing() -> DraftLauncher:
    message = "launchers/main.sh: no command was found in the repository; write it here"
    return DraftLauncher(
        id="main",
        steps=(Step(("bash", "-c", f"echo '{message}' >&2; exit 64")),),
        origin="no command was found",
        text="",
        missing=True,
    )
