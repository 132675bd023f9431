"""Commands of containers: what is run within one, and the file of the repository that makes it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

_ENGINES = frozenset({"docker", "podman", "nvidia-docker", "nerdctl"})
_IMAGES = frozenset({"singularity", "apptainer"})
CONTAINERS = _ENGINES | _IMAGES | {"docker-compose"}
"""Programs that make and start containers."""

_VALUES = frozenset(
    {"-v", "-e", "-p", "-w", "-u", "-h", "-m", "-c", "-l", "-a", "--name", "--gpus", "--shm-size"}
    | {"--volume", "--env", "--env-file", "--publish", "--workdir", "--user", "--hostname"}
    | {"--memory", "--cpus", "--cpuset-cpus", "--network", "--net", "--ipc", "--pid", "--mount"}
    | {"--device", "--entrypoint", "--runtime", "--ulimit", "--label", "--platform", "--pull"}
    | {"--log-driver", "--restart", "--add-host", "--cap-add", "--security-opt", "--tmpfs"}
    | {"--memory-swap", "--volumes-from", "--userns", "--cidfile", "--group-add", "--dns"}
    | {"-B", "--bind", "--pwd", "--home", "-H", "--overlay", "--scratch", "--app"}
)
_MOUNTS = frozenset({"-v", "--volume", "-B", "--bind", "--mount"})
_HERE = re.compile(r"^(?:\$\(pwd\)|\$\{?PWD\}?|\$\{pwd\}|`pwd`|%cd%|\.)(?:/|$)", re.IGNORECASE)
_USUAL = re.compile(r"^/(?:app|workspace|code|repo|usr/src/app)/(?=.)")
_STARTS = re.compile(
    r"\b(?:docker|podman|nvidia-docker|nerdctl|singularity|apptainer)\s+(?:run|exec)\s"
)
_COMPOSE_FILES = ("docker-compose.yml", "docker-compose.yaml", "compose.yaml", "compose.yml")


def inside_container(words: Sequence[str]) -> list[str] | None:
    """Return the command that is run within a container, or None where none is told.

    Places of the container that are folders of the repository on the outside are written as the
    latter: ``-v $(pwd):/work … python /work/a.py`` runs ``python a.py``.

    Args:
        words: Words of the command: ``docker run IMAGE python a.py``.
    """
    verbs = {"run", "exec"}
    if len(words) < 4 or words[0] not in _ENGINES | _IMAGES or words[1] not in verbs:
        return None
    places: list[tuple[str, str]] = []
    at = 2
    while at < len(words) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        if not equals and name in _VALUES:
            value = words[at + 1] if at + 1 < len(words) else ""
            at += 1
        if name in _MOUNTS:
            places += _mounted(value)
        at += 1
    inner = list(words[at + 1 :])
    if len(inner) < 2 and not (inner and inner[0].startswith((".", "/"))):
        return None
    return [_outside(word, places) for word in inner]


def _mounted(value: str) -> Iterator[tuple[str, str]]:
    """Yield the place of the repository within the container and outside."""
    told = dict(part.partition("=")[::2] for part in value.split(",")) if "=" in value else {}
    if told:
        outer = told.get("source") or told.get("src") or ""
        inner = told.get("target") or told.get("dst") or told.get("destination") or ""
    else:
        outer, _, inner = value.partition(":")
        inner = inner.partition(":")[0]
    if _HERE.match(outer) and inner.startswith("/"):
        yield inner.rstrip("/"), _HERE.sub("", outer).rstrip("/")


def _outside(word: str, places: list[tuple[str, str]]) -> str:
    for inner, outer in places:
        if word.startswith(f"{inner}/"):
            rest = word[len(inner) + 1 :]
            return f"{outer}/{rest}" if outer else rest
    return _USUAL.sub("", word)


def text_inside(text: str) -> str:
    """Return the part of a line that is run within a container, or the line where none is.

    Args:
        text: The line.
    """
    start = _STARTS.search(text)
    if start is None:
        return text
    try:
        words = shlex.split(text[start.start() :], comments=True)
    except ValueError:
        return text
    inner = inside_container(words)
    if inner is None:
        return text
    given = words[len(words) - len(inner) :]
    places = re.finditer(r"\s+".join(re.escape(word) for word in given[:2]), text)
    found = [place.start() for place in places]
    if not found:
        return text
    line = text[found[-1] :]
    for old, new in zip(given, inner, strict=True):
        line = line.replace(old, new) if old != new else line
    return line


def image_files(words: Sequence[str]) -> list[str]:
    """Return the files that a command may make or start a container from, the likeliest first.

    Args:
        words: Words of the command.
    """
    program, rest = words[0], list(words[1:])
    if program in _ENGINES and rest[:1] == ["buildx"]:
        rest = rest[1:]
    if program in _ENGINES and rest[:1] in (["build"], ["bake"]):
        return _built_from(rest[1:])
    if program in _IMAGES and rest[:1] == ["build"]:
        return [word for word in rest[1:] if word.endswith((".def", ".recipe"))]
    if program == "docker-compose" or (program in _ENGINES and rest[:1] == ["compose"]):
        given = _option(rest, ("-f", "--file"))
        return [given] if given else list(_COMPOSE_FILES)
    return []


def _built_from(rest: list[str]) -> list[str]:
    given = _option(rest, ("-f", "--file"))
    if given:
        return [given]
    folder = next((word for word in reversed(rest) if not word.startswith("-")), ".")
    if re.match(r"[$<]|https?://|-$", folder):
        folder = "."
    stem = "" if folder in {".", "./"} else folder.rstrip("/") + "/"
    return [f"{stem}Dockerfile", f"{stem}Containerfile"]


def _option(words: list[str], names: tuple[str, ...]) -> str:
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else "".join(words[number + 1 : number + 2])
    return ""
