"""Starting the commands that a repository's own package would install, without installing it.

The locked environment holds what the code needs and never the code itself, which runs from its
copy. So a launcher that calls such a command defines it: a function of bash that imports what the
entry point names (entry points specification, "Use for scripts"), or starts the script that would
be installed as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.author.draft_launchers import DraftLauncher
from rra.author.launchers import OWN_NAMES, OwnCommand
from rra.scan import ConsoleScript, Scan
from rra.scan.shellwords import simple_commands
from rra.scan.text import read_text

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_INNER = re.compile(r"[(`]\s*(?:[A-Za-z_]\w*=\S*\s+)*([\w.-]+)")
"""Programs that a line starts within another: ``$(a x)``, ``(b y)``."""
_FUNCTION = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<object>[A-Za-z_]\w*)(?P<rest>(?:\.\w+)*)")


def own_commands(launcher: DraftLauncher, scan: Scan) -> tuple[OwnCommand, ...]:
    """Return the commands of the repository's own package that a launcher calls.

    Those count that a step starts, a line for a shell names, or a shell script behind the
    launcher starts. A name that the launcher needs for itself (``run``) is left out.

    Args:
        launcher: The launcher.
        scan: The scan of the repository.
    """
    found: dict[str, OwnCommand] = {}
    called = set(_called(launcher, scan))
    for script in scan.console_scripts:
        name = script.name
        wanted = name in called and name not in found and name not in OWN_NAMES
        own = _own_command(script, scan) if wanted and _NAME.fullmatch(name) else None
        if own is not None:
            found[name] = own
    return tuple(found.values())


def _called(launcher: DraftLauncher, scan: Scan) -> Iterator[str]:
    """Yield the names of the programs that a launcher starts, also in lines for a shell."""
    for step in launcher.steps:
        words = [word for word in step.argv if isinstance(word, str)]
        yield from words[:1]
        if words[:2] == ["bash", "-c"]:
            yield from _started("".join(words[2:3]))
    for command in scan.nested_commands:
        if command.source in launcher.behind:
            yield from _started(command.text)


def _started(line: str) -> Iterator[str]:
    yield from (words[0] for _, words in simple_commands(line) if words)
    yield from _INNER.findall(line)


def _own_command(script: ConsoleScript, scan: Scan) -> OwnCommand | None:
    """Return how a command is started from the code, or None where that is not known."""
    path = script.path
    if path is None:
        return None
    function = _FUNCTION.fullmatch(script.target)
    if function is None:
        program = _program(path, scan) if ":" not in script.target else ""
        argv: tuple[str, ...] = (program,)
        file: PurePosixPath | None = path
        root = script.source.parent
        root = root / "src" if any(p.is_relative_to(root / "src") for p in scan.files) else root
    else:
        module, name, rest = function["module"], function["object"], function["rest"]
        code = (
            f"import sys; from {module} import {name}; "
            f"sys.argv[0] = {json.dumps(script.name)}; sys.exit({name}{rest}())"
        )
        argv, file, program = (("python", "-c", code), None, "python")
        parts = (path.parent if path.name == "__init__.py" else path.with_suffix("")).parts
        root = PurePosixPath(*parts[: -len(module.split("."))])
    if not program:
        return None
    why = f"{script.source} names it as {script.target}; nothing is installed, so it starts here"
    return OwnCommand(script.name, argv, file, root, why)


def _program(path: PurePosixPath, scan: Scan) -> str:
    """Return what starts a script: its suffix or its first line tells; empty where neither does."""
    first = (read_text(scan.root / path) or "").partition("\n")[0]
    if path.suffix == ".py" or re.match(r"#!.*\bpython", first):
        return "python"
    return "bash" if re.match(r"#!.*\b(?:ba)?sh\b", first) else ""
