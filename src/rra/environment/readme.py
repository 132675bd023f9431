"""The README of an environment: how to install it with nothing but Python and pip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.counts import counted
from rra.environment.pylock import WHEELS_DIR, LockedPackage
from rra.environment.resolve import Resolution
from rra.environment.runtime import INTERPRETER_NAME, RuntimeDescription
from rra.model import Environment

_MARK = "<!-- written by rra lock; remove this line to keep a text of your own -->"


def keeps_own_text(path: Path) -> bool:
    """Tell whether a README is the author's own and must not be written over."""
    return path.is_file() and _MARK not in path.read_text("utf-8", "replace")


def render_readme(
    env: Environment,
    packages: Sequence[LockedPackage],
    *,
    place: PurePosixPath,
    target: Resolution,
    facts: Mapping[str, Any],
    carried: RuntimeDescription | None = None,
) -> str:
    """Write the README of an environment in plain words.

    Args:
        env: Its definition.
        packages: What is locked.
        place: Its folder, relative to the artifact's root.
        target: What it was resolved for.
        facts: What the lock says under ``[tool.rra]``; `rra.environment.why` has the keys.
        carried: The interpreter that lies beside the lock.
    """
    python = target.python
    platforms = ", ".join(platform.name for platform in target.platforms)
    day = f" Resolved as of {target.as_of}." if target.as_of else ""
    count = counted(len(packages), "package")
    lines = [
        _MARK,
        f"# Environment `{place.name}`",
        "",
        f"Python {python} with {count}, for {platforms}.{day}",
        "",
        "## Install it",
        "",
        f"From the root of the artifact, with any Python {python} and pip:",
        "",
        "```sh",
        f"python{python} -m venv .venv",
        f".venv/bin/python -m pip install --require-hashes -r {place}/requirements.txt",
        "```",
        "",
        'Then put it on `PATH` (`export PATH="$PWD/.venv/bin:$PATH"`) and run a launcher.',
        "pip refuses a file whose digest is not the one written down. Where the files come from",
        "(an index, a mirror, a folder given with `--find-links`) is up to you.",
        *_interpreter(carried, place),
        *_variables(env),
        *_system_packages(env),
        *_accelerator(env),
        *_reasons(facts),
        *_contents(packages, facts.get("why", {})),
        "",
        "## Files",
        "",
        "- `pylock.toml`: the exact wheels, by name, size and SHA-256 (PEP 751).",
        "- `requirements.txt`: the same for pip.",
        f"- `{WHEELS_DIR}/`, where present: wheels that no index has, or all of them.",
    ]
    if carried is not None:
        lines.append(f"- `{INTERPRETER_NAME}`: the interpreter, to be unpacked anywhere.")
    return "\n".join(lines) + "\n"


def _interpreter(carried: RuntimeDescription | None, place: PurePosixPath) -> list[str]:
    if carried is None:
        return []
    program = carried.executable
    beside = ", ".join(f"`{name}`" for name in carried.libraries)
    return [
        "",
        "## Without any Python",
        "",
        f"Python {carried.python} for {carried.platform} lies beside the lock and starts from any",
        "folder. With it and the wheels, no network is needed:",
        "",
        "```sh",
        f"mkdir runtime && tar -xf {place}/{INTERPRETER_NAME} -C runtime",
        f"runtime/{program} -m venv .venv",
        ".venv/bin/python -m pip install --no-index --require-hashes \\",
        f"    --find-links {place}/{WHEELS_DIR} -r {place}/requirements.txt",
        "```",
        "",
        f"Of the system it needs the GNU C library {carried.glibc or 'of any version'} or newer,",
        f"that is {beside}.",
        *_carried_libraries(carried),
    ]


def _carried_libraries(carried: RuntimeDescription) -> list[str]:
    if not carried.carried:
        return []
    names = ", ".join(f"`{name}`" for name in carried.carried)
    return [f"These libraries of the system it was made on lie in it: {names}."]


def _variables(env: Environment) -> list[str]:
    if not env.variables:
        return []
    lines = ["", "Set these variables as well:", "", "```sh"]
    lines += [f"export {name}={_quoted(value)}" for name, value in sorted(env.variables.items())]
    return [*lines, "```"]


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _system_packages(env: Environment) -> list[str]:
    lines = []
    for system, names in sorted((env.system_packages or {}).items()):
        if names:
            lines += ["", f"It also needs these packages of {system}: {', '.join(names)}."]
    return lines


def _accelerator(env: Environment) -> list[str]:
    if env.accelerator is None or env.accelerator.kind == "none":
        return []
    facts = ", ".join(f"{key} {value}" for key, value in sorted(env.accelerator.to_json().items()))
    return ["", f"It needs an accelerator: {facts}."]


def _reasons(facts: Mapping[str, Any]) -> list[str]:
    """Return where the packages, the day and the Python come from."""
    rows = (
        ("Packages: ", facts.get("manifest"), facts.get("manifest-why")),
        ("As of ", facts.get("as-of"), facts.get("as-of-why")),
        ("Python ", facts.get("python"), facts.get("python-why")),
    )
    lines = [f"- {title}{_plain(value)} ({_plain(why)})" for title, value, why in rows if why]
    lines += [f"- Tried: {_plain(line)}" for line in facts.get("tried", ())]
    return ["", "## Why these", "", *lines] if lines else []


def _contents(packages: Sequence[LockedPackage], why: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not packages:
        return ["", "## Packages", "", "None: Python's standard library is enough."]
    lines = ["", "## Packages", "", "| package | version | why |", "|---|---|---|"]
    for package in sorted(packages, key=lambda p: p.name):
        reasons = "; ".join(_why(why.get(package.name, {})))
        lines.append(f"| {package.name} | {package.version} | {_plain(reasons)} |")
    return lines


def _why(entry: Mapping[str, Any]) -> Iterator[str]:
    if "requirement" in entry:
        place = f" ({entry['place']})" if "place" in entry else ""
        yield f"asked for: {entry['requirement']}{place}"
    if "required-by" in entry:
        yield f"needed by {', '.join(entry['required-by'])}"
    if "index" in entry:
        yield f"not on the default index: configure {entry['index']}, or use wheels/"
    if "overtaken-by" in entry:
        yield f"{entry['overtaken-by']} was there, and could not be had"


def _plain(text: object) -> str:
    """Return text as one line of a table of Markdown, whoever wrote it."""
    line = " ".join(str(text).split())
    for character in "\\`*_|<[":
        line = line.replace(character, f"\\{character}")
    return line
