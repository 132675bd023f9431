"""Facts of a repository's own files: licence, Python version, manifests, paths of a machine."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.objects import AbsolutePath, Command, Licence, PythonFile, PythonHint

_ABSOLUTE = re.compile(
    r"^(?:file://)?(?:/(?:home|Users|mnt|media|data\d*|scratch|nfs|gpfs|lustre|ssd|raid|work|private"
    r"|root|projects?|export|datasets?|checkpoints?|volumes?|srv|storage|opt|results?|content|kaggle|workspace)/"
    r"|~/|[A-Za-z]:[\\/](?![\\/]))"
)
_ABSOLUTE_IN_TEXT = re.compile(
    r"(?<![\w.$}/:])(/(?:home|Users|mnt|media|scratch|nfs|gpfs|lustre|raid|private|storage|export|work|projects)/[\w./-]+)"
)
_WHOLE_WORD = re.compile(r"(?<![\w./:~-])((?:/|[A-Za-z]:\\)[\w.+~/\\@-]{3,300})")
_MANIFEST = re.compile(
    r"^(?:requirements.*\.(?:txt|in)|environment.*\.ya?ml|conda.*\.ya?ml|pyproject\.toml|setup\.py|"
    r"setup\.cfg|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|pdm\.lock|pylock.*\.toml|pixi\.(?:toml|lock)"
    r"|conda-lock\.yml|renv\.lock|DESCRIPTION|Dockerfile|Project\.toml|Manifest\.toml|runtime\.txt|"
    r"\.python-version|package\.json|dependencies\.txt|reqs?\.txt|install_requirements\.txt)$",
    re.IGNORECASE,
)
_LICENCES = (
    ("Apache-2.0", r"apache license,?\s+version 2\.0"),
    ("EUPL-1.2", r"european union public licen[cs]e,? (?:v\.?|version) ?1\.2"),
    ("AGPL-3.0-only", r"gnu affero general public license\s+version 3"),
    ("LGPL-3.0-only", r"gnu lesser general public license\s+version 3"),
    ("LGPL-2.1-only", r"gnu lesser general public license\s+version 2\.1"),
    ("GPL-3.0-only", r"gnu general public license\s+version 3"),
    ("GPL-2.0-only", r"gnu general public license\s+version 2"),
    ("MPL-2.0", r"mozilla public license(?:,)? version 2\.0"),
    ("CC0-1.0", r"cc0 1\.0 universal|creative commons zero"),
    ("CC-BY-SA-4.0", r"attribution-sharealike 4\.0"),
    ("CC-BY-NC-4.0", r"attribution-noncommercial 4\.0"),
    ("CC-BY-4.0", r"attribution 4\.0 international"),
    ("BSL-1.0", r"boost software license"),
    ("Unlicense", r"this is free and unencumbered software"),
    ("ISC", r"permission to use, copy, modify, and/or distribute this software"),
    ("BSD-3-Clause", r"redistribution and use in source and binary forms.*neither (?:the )?name"),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms"),
    ("MIT", r"permission is hereby granted, free of charge"),
)
_LICENCE_FIELDS = {
    "setup.py": r"\blicen[cs]e\s*=\s*[\"']([^\"'\n]{2,60})[\"']",
    "setup.cfg": r"^licen[cs]e\s*=\s*([^\n]{2,60})$",
    "DESCRIPTION": r"^License:\s*([^\n|]{2,60}?)(?:\s*\+\s*file LICEN[CS]E)?$",
}
_LICENCE_NAMES = {
    "mit": "MIT",
    "mit license": "MIT",
    "apache-2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "gpl-2": "GPL-2.0-only",
    "gpl-3": "GPL-3.0-only",
    "gpl (>= 2)": "GPL-2.0-or-later",
    "gpl (>= 3)": "GPL-3.0-or-later",
    "gplv3": "GPL-3.0-only",
    "gpl-3.0-only": "GPL-3.0-only",
    "gpl-3.0-or-later": "GPL-3.0-or-later",
    "mpl-2.0": "MPL-2.0",
}
"""Names that mean one licence only; ``BSD`` and ``GPL`` alone do not say which."""
_SPDX_HEADER = re.compile(r"SPDX-License-Identifier:\s*([\w.+-]{2,40})\s*$", re.MULTILINE)
_LICENCE_FILE = re.compile(r"(?i)^(?:licen[cs]e|licen[cs]ia|lizenz|copying|copyright$|unlicense)")
_README_LICENCE = re.compile(
    r"(?i)^[#*=\s]*licen[cs]e[*#:\s]*\n(?:[=-]{3,}\n)?\s*([\w. +()>=,-]{3,30}?)(?:[.;:,]|\s*$)|"
    r"^[*_\s]*licen[cs]e[*_]*:\s*[*_]*([\w. +-]{3,30}?)[*_.\s]*$",
    re.MULTILINE,
)
_AT_LEAST = (
    re.compile(r"(?i)\bpython\s*(?:version\s*)?(?:>=|≥|at least)\s*(3\.\d{1,2})"),
    re.compile(
        r"(?i)\bpython\s*(?:version\s*)?(3\.\d{1,2})(?:\.\d+)?\s*"
        r"(?:\+|,?\s*\(?(?:or|and)\s+(?:newer|later|higher|above|up|greater|more recent)\b)"
    ),
)
_MADE_FOR = (
    re.compile(r"\b(?:conda|mamba|micromamba)\s+create\b.*?\bpython\s*={1,2}\s*(\d\.\d{1,2})"),
    re.compile(r"\bvirtualenv\b.*?\s(?:-p|--python)[\s=]+\S*?python(\d\.\d{1,2})"),
    re.compile(r"^python(\d\.\d{1,2})\s+-m\s+venv\b"),
    re.compile(r"^py\s+-(\d\.\d{1,2})(?:-\d\d)?\s+-m\s+venv\b"),
    re.compile(r"\buv\s+venv\b.*?\s(?:-p|--python)[\s=]+(?:python)?(\d\.\d{1,2})"),
)
_README_PYTHON = re.compile(
    r"\bpython\s*(?:version\s*)?(?P<v>[23]\.\d{1,2}(?:\.\d+)?)", re.IGNORECASE
)


def find_licence(texts: Mapping[PurePosixPath, str]) -> Licence | None:
    """Return the licence of a repository: its file, and its SPDX identifier when known.

    Args:
        texts: Texts of the files in the repository's root.
    """
    for path, text in sorted(texts.items()):
        if _LICENCE_FILE.match(path.name):
            plain = " ".join(text.lower().split())
            for spdx, pattern in _LICENCES:
                if re.search(pattern, plain):
                    return Licence(spdx, path)
            return Licence("", path)
    project = texts.get(PurePosixPath("pyproject.toml"))
    spdx = _project_licence(project) if project else ""
    if spdx:
        return Licence(spdx, PurePosixPath("pyproject.toml"))
    return next(_stated_licences(texts), None) or _licence_in_readme(texts)


def _licence_in_readme(texts: Mapping[PurePosixPath, str]) -> Licence | None:
    """Return the licence that a README names under a heading or behind the word for it."""
    for path, text in sorted(texts.items()):
        found = _README_LICENCE.search(text) if path.name.lower().startswith("readme") else None
        named = (found[1] or found[2]).strip().lower() if found else ""
        spdx = _LICENCE_NAMES.get(named, "")
        if spdx:
            return Licence(spdx, path)
    return None


def _stated_licences(texts: Mapping[PurePosixPath, str]) -> Iterator[Licence]:
    """Yield licences that packaging files and headers of code name, packaging files first."""
    for path, text in sorted(texts.items()):
        pattern = _LICENCE_FIELDS.get(path.name)
        found = re.search(pattern, text, re.MULTILINE) if pattern else None
        if found:
            written = found[1].strip()
            yield Licence(_LICENCE_NAMES.get(written.lower(), ""), path)
    for path, text in sorted(texts.items()):
        if found := _SPDX_HEADER.search(text[:5_000]):
            yield Licence(found[1], path)


def _project_licence(text: str) -> str:
    try:
        data = tomllib.loads(text)
        poetry = data.get("tool", {}).get("poetry", {})
        licence = data.get("project", {}).get("license") or poetry.get("license", "")
    except (tomllib.TOMLDecodeError, AttributeError):
        return ""
    if isinstance(licence, dict):
        licence = licence.get("text", "")
    return (
        licence if isinstance(licence, str) and re.fullmatch(r"[\w.+() -]{2,60}", licence) else ""
    )


def is_manifest(path: PurePosixPath) -> bool:
    """Tell whether a file declares dependencies; only the two upper levels are looked at."""
    return bool(_MANIFEST.match(path.name)) and len(path.parts) <= 2


def python_hints(
    texts: Mapping[PurePosixPath, str], commands: Iterable[Command] = ()
) -> tuple[PythonHint, ...]:
    """Return what a repository says about its Python version, the most binding first.

    Args:
        texts: Texts of the files in the repository's root.
        commands: Commands of documents, of which those count that make an environment.
    """
    hints = [*_hints(texts), *_environments(commands)]
    return tuple(sorted(hints, key=lambda hint: not hint.exact))


def _environments(commands: Iterable[Command]) -> Iterator[PythonHint]:
    """Yield the versions for which documents have somebody make an environment."""
    for command in commands:
        for pattern in _MADE_FOR:
            if found := pattern.search(command.text):
                yield PythonHint(found[1], f"{command.source}:{command.line}", exact=True)
                break


def _hints(texts: Mapping[PurePosixPath, str]) -> Iterator[PythonHint]:
    patterns = (
        (r"^\.python-version$", r"^\s*(\d+\.\d+(?:\.\d+)?)\s*$", True),
        (r"^Dockerfile", r"^FROM\s+(?:\S+/)?python:(\d+\.\d+(?:\.\d+)?)", True),
        (r"^runtime\.txt$", r"^python-(\d+\.\d+(?:\.\d+)?)", True),
        (r"^env(?:ironment)?.*\.ya?ml$", r"^\s*-\s*python\s*={1,2}\s*(\d+\.\d+(?:\.\d+)?)", True),
        (r"^Pipfile$", r"^python_version\s*=\s*[\"'](\d+\.\d+)", True),
        (r"^pyproject\.toml$", r"^(?:requires-python|python)\s*=\s*[\"']([^\"']+)", False),
        (r"^setup\.(?:py|cfg)$", r"python_requires\s*=\s*[\"']?([^\"'\n)]+)", False),
        (r"(?i)^readme", _README_PYTHON.pattern, False),
    )
    for path, text in sorted(texts.items()):
        if path.name.lower().startswith("readme"):
            for at_least in filter(None, (one.search(text) for one in _AT_LEAST)):
                line = text.count("\n", 0, at_least.start()) + 1
                yield PythonHint(f">={at_least[1]}", f"{path}:{line}", exact=False)
        for name, pattern, exact in patterns:
            if re.match(name, path.name):
                found = re.search(pattern, text, re.MULTILINE | re.IGNORECASE)
                if found:
                    line = text.count("\n", 0, found.start(1)) + 1
                    yield PythonHint(found[1].strip(), f"{path}:{line}", exact)


def absolute_paths(
    python_files: Mapping[PurePosixPath, PythonFile],
    shell_texts: Mapping[PurePosixPath, str],
    others: Mapping[PurePosixPath, str],
    commands: Iterable[Command] = (),
) -> tuple[AbsolutePath, ...]:
    """Return the paths of somebody's machine that stand in code, settings and commands.

    Args:
        python_files: Python files by path.
        shell_texts: Texts of shell scripts and Makefiles.
        others: Texts of settings and of code in other languages.
        commands: Commands of documents.
    """
    found = [
        AbsolutePath(path, literal.line, literal.text)
        for path, python in python_files.items()
        for literal in python.strings
        if _ABSOLUTE.match(literal.text)
    ]
    for path, text in shell_texts.items():
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.lstrip().startswith("#"):
                found += [
                    AbsolutePath(path, number, text) for text in _ABSOLUTE_IN_TEXT.findall(line)
                ]
    for path, text in others.items():
        for number, line in enumerate(text.split("\n"), start=1):
            if not re.match(r"\s*(?:#|//|%|--)", line):
                named = (m[1].rstrip(".,;)") for m in _WHOLE_WORD.finditer(line))
                found += [AbsolutePath(path, number, one) for one in named if _ABSOLUTE.match(one)]
    for command in commands:
        words = command.argv[1:] if not command.shell else ()
        plain = (word.rpartition("=")[2] for word in words if word not in command.placeholders)
        found += [
            AbsolutePath(command.source, command.line, word)
            for word in plain
            if _ABSOLUTE_IN_TEXT.fullmatch(word)
        ]
    return tuple(dict.fromkeys(found))


def third_party(
    python_files: Mapping[PurePosixPath, PythonFile], standard: Collection[str]
) -> tuple[str, ...]:
    """Return the imported top-level names that are neither local nor of the standard library."""
    local = {path.stem for path in python_files}
    local |= {part for path in python_files for part in path.parts[:-1]}
    names = {name for python in python_files.values() for name in python.imports}
    return tuple(sorted(names - local - set(standard)))
