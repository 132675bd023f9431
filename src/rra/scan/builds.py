"""Programs that a repository builds or installs, read from its build files without running them."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.objects import ConsoleScript

MAKEFILE = re.compile(r"^(?:GNUm|M|m)akefile(?:\.\w+)?$|\.mk$")
"""Names of files that ``make`` reads."""

BUILD_FILE = re.compile(r"^CMakeLists\.txt$|^Cargo\.toml$|" + MAKEFILE.pattern)
"""Names of files that say what is built."""

_COMPILER = re.compile(
    r"\$[({](?:CC|CXX|NVCC|FC|F77|LD|HIPCC|MPICC|MPICXX)[)}]|"
    r"(?:^|[\s/])(?:gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|nvcc|hipcc|mpicc|mpicxx|mpic\+\+|gfortran|"
    r"ifort|icc|icpc|ghc|rustc|ocamlfind|ocamlopt|fpc|nim|dmd|go build)(?:[-\d.]*)(?=\s)"
)
_OUTPUT = re.compile(r"(?:^|\s)-o\s*([\w./+-]+)")
_RULE = re.compile(r"^(?P<targets>[^:=#\t\s][^:=#]*?)\s*::?(?![=:])(?P<needs>[^=]*)$")
_VARIABLE = re.compile(r"^(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*([:?+]{0,2}=)\s*(.*)$")
_NO_PROGRAM = (".o", ".a", ".so", ".d", ".h", ".c", ".cpp", ".py", ".txt", ".pdf", ".lo", ".la")
_SOURCE = (".o", ".obj", ".c", ".cc", ".cpp", ".cxx", ".cu", ".f90", ".f", ".go", ".rs", ".hs")


_MAX_VALUES = 50


@dataclasses.dataclass(frozen=True)
class Makefile:
    """What a Makefile says.

    Attributes:
        targets: Its explicit targets.
        open: Whether it may have others: it includes files or has rules with patterns.
        programs: Programs that its rules build, as it names them.
        recipes: Commands of its rules with their lines, variables of the file put in.
        rules: Targets and prerequisites of the rule around each of those lines.
    """

    targets: frozenset[str]
    open: bool
    programs: tuple[str, ...]
    recipes: tuple[tuple[int, str], ...]
    rules: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True)
class Builds:
    """Programs that come into being when a repository is built or installed.

    Attributes:
        programs: Places of programs relative to the repository, and the file that builds each.
        installed: Names of installed commands; the file of the repository that each starts.
        makefiles: Makefiles by path.
    """

    programs: Mapping[PurePosixPath, PurePosixPath] = dataclasses.field(default_factory=dict)
    installed: Mapping[str, PurePosixPath] = dataclasses.field(default_factory=dict)
    makefiles: Mapping[PurePosixPath, Makefile] = dataclasses.field(default_factory=dict)

    def named(self, name: str) -> list[PurePosixPath]:
        """Return the built programs of a name, those nearest to the root first."""
        hits = [path for path in self.programs if path.name == name]
        return sorted(hits, key=lambda path: (len(path.parts), str(path)))

    @property
    def names(self) -> frozenset[str]:
        """Names of all programs, as somebody would type them."""
        return frozenset(path.name for path in self.programs) | frozenset(self.installed)


def read_builds(
    texts: Mapping[PurePosixPath, str],
    files: Iterable[PurePosixPath],
    scripts: Iterable[ConsoleScript] = (),
) -> Builds:
    """Find out which programs a repository builds and installs.

    Args:
        texts: Texts of build files by path.
        files: Files of the repository.
        scripts: Commands that its own packages install.
    """
    listed = frozenset(files)
    programs: dict[PurePosixPath, PurePosixPath] = {}
    makefiles: dict[PurePosixPath, Makefile] = {}
    for path, text in texts.items():
        if path.name == "CMakeLists.txt":
            for name in _cmake_programs(text):
                programs.setdefault(path.parent / "build" / name, path)
        elif path.name == "Cargo.toml":
            for name in _cargo_programs(text):
                programs.setdefault(path.parent / "target" / "release" / name, path)
        elif MAKEFILE.search(path.name):
            makefiles[path] = read_makefile(text)
            for name in makefiles[path].programs:
                programs.setdefault(path.parent / name, path)
    kept = {path: by for path, by in programs.items() if path not in listed}
    installed = {script.name: script.path for script in scripts if script.path is not None}
    return Builds(kept, installed, makefiles)


def _cmake_programs(text: str) -> Iterator[str]:
    """Yield the programs of a CMakeLists.txt, the values of its variables and loops put in."""
    text = re.sub(r"#[^\n]*", "", text)
    values: dict[str, list[str]] = {}
    project = re.search(r"(?i)\bproject\s*\(\s*([\w.+-]+)", text)
    if project:
        values["PROJECT_NAME"] = values["CMAKE_PROJECT_NAME"] = [project[1]]
    for call in re.finditer(r"(?i)\b(set|foreach)\s*\(\s*(\w+)\s+([^()]*)\)", text):
        words = re.sub(r"\b(?:IN|ITEMS|LISTS|CACHE|PARENT_SCOPE)\b", "", call[3]).split()
        words = [one for word in words for one in values.get(word.strip("${}"), [word.strip('"')])]
        values[call[2]] = [*values.get(call[2], []), *words][:_MAX_VALUES]
    for name in re.findall(r"(?i)\badd_executable\s*\(\s*([\w.+${}-]+)", text):
        yield from _with_values(name, values)


def _with_values(name: str, values: Mapping[str, list[str]], depth: int = 0) -> Iterator[str]:
    variable = re.search(r"\$\{(\w+)\}", name)
    if variable is None:
        yield name
        return
    for value in values.get(variable[1], ()) if depth < 4 else ():
        yield from _with_values(name.replace(variable[0], value), values, depth + 1)


def compiled(line: str) -> Iterator[str]:
    """Yield programs that a command line compiles: ``g++ main.cpp -o main``."""
    if _COMPILER.search(line) and not re.search(r"(?:^|\s)-(?:c|shared)(?:\s|$)", line):
        for name in _OUTPUT.findall(line):
            if not name.endswith(_NO_PROGRAM):
                yield name.removeprefix("./")


def read_makefile(text: str) -> Makefile:
    """Read the rules of a Makefile (GNU make manual, "Writing Rules").

    Conditionals are passed over: both branches count, the later value of a variable wins.
    """
    reading = _MakeReading()
    for number, line in _logical_lines(text):
        if line.startswith("\t") and reading.in_rule:
            reading.recipe(number, line)
        else:
            reading.line(number, re.sub(r"(?<!\\)#.*$", "", line).rstrip())
    return reading.result()


class _MakeReading:
    """The state of reading one Makefile."""

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}
        self._needs: dict[str, str] = {}
        self._phony: set[str] = set()
        self._programs: dict[str, None] = {}
        self._recipes: list[tuple[int, str]] = []
        self._rules: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._with_recipe: set[str] = set()
        self._open = False
        self._rule: tuple[list[str], str] = ([], "")

    @property
    def in_rule(self) -> bool:
        """Whether a rule has begun: only then a tab starts a command."""
        return bool(self._rule[0])

    def recipe(self, number: int, line: str) -> None:
        command = _make_expand(line.strip().lstrip("@-+"), self._variables, self._rule)
        self._recipes.append((number, command.replace("$$", "$")))
        targets, needs = self._rule
        self._rules[number] = (tuple(targets), tuple(w for w in needs.split() if w != "|"))
        self._with_recipe.update(self._rule[0])
        self._programs.update(dict.fromkeys(_programs_of(line, command, self._rule[0])))

    def line(self, number: int, line: str) -> None:
        variable = _VARIABLE.match(line.strip())
        if variable:
            old = self._variables.get(variable[1], "") + " " if variable[2] == "+=" else ""
            self._variables[variable[1]] = (old + variable[3]).strip()
            return
        self._open = self._open or bool(re.match(r"[-s]?include\b", line))
        rule = _RULE.match(line)
        if rule is None:
            return
        needs, _, inline = rule["needs"].partition(";")
        names = _make_expand(rule["targets"], self._variables, ([], "")).split()
        self._rule = (names, _make_expand(needs, self._variables, ([], "")))
        if names == [".PHONY"]:
            self._phony.update(self._rule[1].split())
            return
        if inline.strip():
            self.recipe(number, inline)
        self._open = self._open or any(re.search(r"[%$()]", name) for name in names)
        for name in names:
            if re.fullmatch(r"[\w+-][\w./+-]*", name):
                self._needs.setdefault(name, self._rule[1])

    def result(self) -> Makefile:
        for name, needs in self._needs.items():
            implied = {f"{name}{suffix}" for suffix in _SOURCE}
            if name not in self._with_recipe and implied & set(needs.split()):
                self._programs[name] = None
        programs = tuple(name for name in self._programs if name not in self._phony)
        return Makefile(
            frozenset(self._needs), self._open, programs, tuple(self._recipes), self._rules
        )


def _programs_of(line: str, command: str, targets: list[str]) -> Iterator[str]:
    if not (_COMPILER.search(line) or _COMPILER.search(command)):
        return
    if re.search(r"(?:^|\s)-(?:c|shared)(?:\s|$)", command):
        return
    outputs = _OUTPUT.findall(command)
    yield from (name for name in outputs or targets if _may_be_program(name))


def _may_be_program(name: str) -> bool:
    plain = re.fullmatch(r"[\w+-][\w./+-]*", name) and name != "all"
    return bool(plain) and not name.endswith(_NO_PROGRAM) and ".so." not in name


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    pending, start = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        start = start if pending else number
        if line.rstrip().endswith("\\"):
            body = line.rstrip()[:-1].rstrip()
            pending += (body if not pending else body.strip()) + " "
            continue
        yield start, pending + (line.strip() if pending else line)
        pending = ""
    if pending:
        yield start, pending


def _make_expand(text: str, variables: Mapping[str, str], rule: tuple[list[str], str]) -> str:
    """Put in the variables of the file and those of the rule, eight levels deep at most."""
    targets, needs = rule
    automatic = {
        "$@": " ".join(targets[:1]),
        "$^": needs.strip(),
        "$<": " ".join(needs.split()[:1]),
    }
    for name, meant in automatic.items():
        text = text.replace(name, meant)

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        default = {"PYTHON": "python", "MAKE": "make"}.get(name)
        return variables.get(name, default if default is not None else found[0])

    for _ in range(8):
        expanded = re.sub(r"(?<!\$)\$(?:\(([A-Za-z_]\w*)\)|\{([A-Za-z_]\w*)\})", value, text)
        if expanded == text or len(expanded) > 20_000:
            break
        text = expanded
    return text


def _cargo_programs(text: str) -> Iterator[str]:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    package = data.get("package")
    if isinstance(package, dict) and isinstance(package.get("name"), str):
        yield package["name"]
    bins = data.get("bin")
    for entry in bins if isinstance(bins, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield entry["name"]
