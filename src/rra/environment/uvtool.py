"""The uv program that ships with the package of that name: calling it, reading its errors."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from rra._base import process
from rra._base.process import Completed
from rra.errors import ToolMissingError

_DROPPED = frozenset(
    {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "UV_PYTHON", "UV_SYSTEM_PYTHON"}
    | {"UV_EXCLUDE_NEWER", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_BUILD_CONSTRAINT"}
    | {"UV_RESOLUTION", "UV_PRERELEASE", "UV_REQUIRE_HASHES", "UV_NO_BUILD", "UV_NO_BINARY"}
    | {"UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "UV_COMPILE_BYTECODE", "UV_NO_VERIFY_HASHES"}
)
"""Variables that would change what is resolved or where it goes. Where packages come from
(`UV_INDEX…`, `UV_OFFLINE`, certificates, proxies, uv's own configuration) is the reader's."""

FURTHER_SOURCES = ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
"""Variables that name sources of packages besides the default index."""

_GLYPHS = re.compile(r"[×╰─▶│├]+")
_USERINFO = re.compile(r"(?<=://)[^/\s@`]+@")
_NOISE = re.compile(r"^(warning:|Resolved \d|Using |Updating |Note:)", re.IGNORECASE)
_ADVICE = re.compile(r"\s*hint: .*$")
_CONCLUSION = re.compile(
    r"(\.? And because (you require )?[^,]*)?,? we can conclude that (your|the) requirements are "
    r"unsatisfiable\.?$"
)
_NO_NETWORK = re.compile(
    r"error sending request|dns error|Failed to fetch|Could not connect|timed out|"
    r"network connectivity is disabled|Network is unreachable|Could not resolve host",
    re.IGNORECASE,
)
_LONGEST = 900
TIMED_OUT = 124
"""Exit status of a command that coreutils' ``timeout`` ended."""


def find_uv() -> Path:
    """Return the path of uv.

    Raises:
        ToolMissingError: The installed package lacks its program.
    """
    import uv

    try:
        return Path(uv.find_uv_bin())
    except FileNotFoundError as error:
        message = "the uv program is missing from this installation"
        raise ToolMissingError(message, hint="install the package uv again with pip") from error


def run_uv(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    variables: dict[str, str] | None = None,
    timeout: float | None = None,
    patience: int | None = None,
    without: Collection[str] = (),
) -> Completed:
    """Run uv with the reader's configuration, without colours and progress bars.

    Args:
        arguments: Arguments after the program's name.
        cwd: Working directory; uv reads the configuration of a project that holds it.
        variables: Variables set on top of the reader's.
        timeout: Seconds after which it is killed.
        patience: Seconds after which it ends with all that it started, compilers too; the exit
            status is then `TIMED_OUT`.
        without: Variables of the reader's that it does not get.
    """
    prefix = ["timeout", "--kill-after=5", str(patience)] if patience else []
    return process.run(
        [*prefix, find_uv(), *arguments],
        cwd=cwd,
        env=environment_for_tools(
            {"UV_NO_PROGRESS": "1", "NO_COLOR": "1", **(variables or {})}, without=without
        ),
        timeout=timeout,
    )


def environment_for_tools(
    variables: dict[str, str], *, without: Collection[str] = ()
) -> dict[str, str]:
    """Return the reader's environment without what would change a resolution.

    Args:
        variables: Variables set on top of it.
        without: Further variables that are left out.
    """
    dropped = {*_DROPPED, *without}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | variables


def is_network_failure(text: str) -> bool:
    """Tell whether uv could not reach an index, as opposed to finding no answer there."""
    return _NO_NETWORK.search(text) is not None


def build_reason(text: str) -> str:
    """Return the line of a build's log that says best why it failed."""
    lines = [line.strip() for line in _USERINFO.sub("", text).splitlines()]
    telling = [
        line
        for line in lines
        if re.search(r"\b\w*(error|Error|ERROR)\b(:? |$)|not found|No such file", line)
        if not re.match(
            r"(error: (Failed to (download and )?build|command )|hint:|.*build backend)", line
        )
    ]
    return telling[-1][:_LONGEST] if telling else condense(text)


def condense(text: str) -> str:
    """Return the part of uv's error output that says what is wrong, on one line.

    Credentials in addresses and advice about uv's own options are left out.
    """
    lines = []
    for raw in _USERINFO.sub("", text).splitlines():
        line = _GLYPHS.sub("", raw).strip()
        if line and not _NOISE.match(line):
            lines.append(line)
    joined = re.sub(r"\s+", " ", " ".join(lines))
    joined = joined.removeprefix("error: ")
    joined = _ADVICE.sub("", joined)
    joined = re.sub(r"^No solution found when resolving dependencies[^:]*: ?", "", joined)
    joined = _CONCLUSION.sub("", joined.strip()).strip()
    if len(joined) > _LONGEST:
        joined = joined[: _LONGEST // 2] + " … " + joined[-_LONGEST // 2 :]
    return joined or "uv gave no reason"
