"""What an image has, asked once for each image: its variables, its Python, its Debian packages."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

from rra._base import places
from rra._base.files import atomic_write
from rra.environment.kinds.system import INSTALLED_FORMAT, parse_installed
from rra.errors import EnvironmentBuildError, StorageError
from rra.sandbox import Apptainer, Engine

_SECONDS = 120.0
_ASK = (
    'for name in python3 python; do if found=$(command -v "$name"); then echo "python $found"; '
    '"$found" -c \'import sys; print("version " + sys.version.split()[0])\'; break; fi; done; '
    f"dpkg-query -W -f '{INSTALLED_FORMAT}' 2>/dev/null; exit 0"
)


@dataclasses.dataclass(frozen=True, slots=True)
class ImageFacts:
    """What an image has.

    Attributes:
        variables: Those that it sets.
        python: Its Python, where one is on its PATH.
        version: Full version of that.
        packages: (name, version) of the Debian packages in it, sorted.
    """

    variables: dict[str, str]
    python: Path | None
    version: str
    packages: tuple[tuple[str, str], ...]


def image_facts(engine: Engine | Apptainer, name: str, digest: str) -> ImageFacts:
    """Ask an image what it has; the answer is kept by the digest of the image.

    Its own programs answer, in a container without network and without any file of ours.

    Raises:
        EnvironmentBuildError: It has no shell, so no launcher could be started in it.
    """
    note = places.cache_root() / "images" / f"{digest.removeprefix('sha256:')}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return _read(json.loads(note.read_text("utf-8")))
    found = _asked(engine, name)
    with contextlib.suppress(OSError, StorageError):
        note.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(note, json.dumps(dataclasses.asdict(found), default=str, sort_keys=True))
    return found


def _read(kept: dict[str, Any]) -> ImageFacts:
    return ImageFacts(
        variables={str(key): str(value) for key, value in kept["variables"].items()},
        python=Path(kept["python"]) if kept["python"] else None,
        version=str(kept["version"]),
        packages=tuple((str(one), str(version)) for one, version in kept["packages"]),
    )


def _asked(engine: Engine | Apptainer, name: str) -> ImageFacts:
    done = engine.asked(name, _ASK, timeout=_SECONDS)
    if not done.ok:
        message = f"{engine.name} cannot start /bin/sh in image {name}: {done.last_error(2)}"
        hint = "an image needs /bin/sh, and bash for launchers that are shell scripts"
        raise EnvironmentBuildError(message, hint=hint)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    version = said.get("version", "")
    return ImageFacts(
        variables=engine.variables(name),
        python=Path(said["python"]) if version and "python" in said else None,
        version=version,
        packages=tuple(sorted(parse_installed(done.stdout).items())),
    )
