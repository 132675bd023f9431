"""Capsules of Code Ocean, as CORE-Bench holds them: metadata, Dockerfile, and ``code/run``."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.author.draft_launchers import DraftLauncher
from rra.author.launchers import Step
from rra.author.runfiles.objects import RunFiles, a_list, a_map, launcher_of, read_document
from rra.environment.conda_specs import python_of_spec, read_conda_spec, split_spec
from rra.scan import Scan
from rra.scan.text import read_text

_METADATA = "metadata/metadata.yml"
_DOCKERFILE = "environment/Dockerfile"
_RUNS = ("code/run", "code/run.sh")
_WITH_VALUE = frozenset(
    {"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-t", "--target", "-n"}
    | {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--channel", "--name"}
)
_SEPARATORS = frozenset({"&&", "||", ";", "|"})
_PLACES = re.compile(r"(?<![\w./-])/(?:code|data|results)(?=[/\s\"']|$)", re.MULTILINE)


def read_capsule(scan: Scan) -> RunFiles:
    """Read a capsule: title and authors, packages of its Dockerfile, and a launcher."""
    notes: list[str] = []
    document = read_document(scan, _METADATA, notes)
    run = next((name for name in _RUNS if PurePosixPath(name) in scan.files), None)
    if document is None or (run is None and PurePosixPath(_DOCKERFILE) not in scan.files):
        return RunFiles(notes=tuple(notes))
    people = [a_map(person).get("name") for person in a_list(document.data.get("authors"))]
    title = document.data.get("name")
    python, requirements = _environment(scan, notes)
    return RunFiles(
        launchers=(_launcher(run, scan),) if run is not None else (),
        title=" ".join(title.split()) if isinstance(title, str) else "",
        authors=tuple(" ".join(name.split()) for name in people if isinstance(name, str)),
        python=python,
        requirements=requirements,
        notes=tuple(notes),
    )


def _launcher(run: str, scan: Scan) -> DraftLauncher:
    name = PurePosixPath(run).name
    steps = [Step(("mkdir", "-p", "../results"), "code"), Step(("bash", name), "code")]
    text = read_text(scan.root / run) or ""
    notes = ["a capsule runs in code/, reads from ../data and writes to ../results"]
    if _PLACES.search(text):
        found = ", ".join(sorted(set(_PLACES.findall(text))))
        notes.append(f"{run} names {found}, which only a capsule has: write ../ in front instead")
    return dataclasses.replace(
        launcher_of("run", steps, [PurePosixPath(run)], scan),
        origin=f"{run}:1",
        text=f"bash {name}",
        collect=(("results/**", "results"),),
        notes=tuple(notes),
    )


def _environment(scan: Scan, notes: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return Python and the packages that the Dockerfile installs; the rest is said."""
    text = read_text(scan.root / _DOCKERFILE)
    if text is None:
        return None, ()
    python: str | None = None
    requirements: dict[str, None] = {}
    system: list[str] = []
    for keyword, rest in _instructions(text):
        if keyword == "FROM":
            found = re.search(r"python[:-]?(\d\.\d+)", rest)
            python = found[1] if found else python
            notes.append(f"{_DOCKERFILE} starts from {rest.split()[0]}, which is not rebuilt here")
        for words in _simple_commands(rest) if keyword == "RUN" else ():
            kind, packages = _installed(words)
            if kind == "pip":
                requirements |= dict.fromkeys(packages)
            elif kind == "apt":
                system += packages
            elif kind == "conda":
                python = next((p for s in packages if (p := python_of_spec(s))), python)
                requirements |= dict.fromkeys(_of_conda(packages, notes))
            elif kind == "R":
                notes.append(f"{_DOCKERFILE} installs packages of R: see its environment kind")
    if system:
        notes.append(f"{_DOCKERFILE} installs packages of the system: {', '.join(system)}")
    return python, tuple(requirements)


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield (keyword, rest) of a Dockerfile, continuation lines joined, comments left out."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\[ \t]*\n", " ", "\n".join(lines)).split("\n"):
        keyword, _, rest = line.strip().partition(" ")
        if rest.strip():
            yield keyword.upper(), rest.strip()


def _simple_commands(text: str) -> Iterator[list[str]]:
    try:
        words = shlex.split(re.sub(r"(;|&&|\|\|)", r" \1 ", text))
    except ValueError:
        return
    command: list[str] = []
    for word in [*words, ";"]:
        if word in _SEPARATORS:
            if command:
                yield command
            command = []
        else:
            command.append(word)


def _installed(words: list[str]) -> tuple[str, list[str]]:
    """Return what kind of package a command installs, and their names."""
    programs = {"pip": "pip", "pip3": "pip", "conda": "conda", "mamba": "conda"}
    programs |= {"apt-get": "apt", "apt": "apt"}
    program = PurePosixPath(words[0]).name
    if program.startswith("python") and words[1:3] == ["-m", "pip"]:
        program, words = "pip", words[2:]
    kind = programs.get(program, "")
    if program in {"Rscript", "R"} and "install" in " ".join(words):
        return "R", []
    if not kind or "install" not in words:
        return "", []
    packages: list[str] = []
    skip = False
    for word in words[words.index("install") + 1 :]:
        if skip or word.startswith("-"):
            skip = not skip and word in _WITH_VALUE
        elif kind != "pip" or re.match(r"[A-Za-z0-9][\w.-]*(?:\[[\w,-]*\])?(?:[=<>!~@ ]|$)", word):
            packages.append(word.partition("=")[0] if kind == "apt" else word)
    return kind, packages


def _of_conda(packages: list[str], notes: list[str]) -> Iterator[str]:
    for spec in packages:
        if split_spec(spec)[0] in {"python", "pip"}:
            continue
        requirement, remark = read_conda_spec(spec)
        if remark:
            notes.append(f"{_DOCKERFILE}: {remark}")
        if requirement is not None:
            yield requirement
