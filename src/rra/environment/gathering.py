"""Bringing the wheels of a lock here, each once, and linking them into a folder for pip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base.files import atomic_write, storage_errors
from rra.environment.answers import GatheredEnvironment
from rra.environment.built import named_environment
from rra.environment.checking import read_lock
from rra.environment.lock import REQUIREMENTS_NAME, python_of
from rra.environment.pylock import render_requirements
from rra.environment.resolve import Resolution
from rra.environment.wheelhouse import HousedWheel, bring_wheels, put
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact


def gather_wheels(
    artifact: Artifact, env_id: str, folder: Path | None, progress: Callable[[str], None]
) -> GatheredEnvironment:
    """Bring the wheels of a lock here; see `rra.api.env_wheels`.

    Raises:
        UsageError: It is not locked, or the folder holds another environment.
        LockError: A wheel is nowhere to be had.
        StorageError: The cache or the folder cannot be written.
    """
    lock = read_lock(artifact, env_id)
    release = python_of(env_id, named_environment(artifact, env_id))
    target = Resolution(lock.python, release, None, lock.platforms, None)
    progress(f"gathering the wheels of {env_id}")
    housed = bring_wheels(lock.packages, lock.wheels, target, progress)
    if folder is not None:
        _link(housed, folder, render_requirements(lock.packages))
    count = Counter(one.source for one in housed)
    return GatheredEnvironment(
        id=env_id,
        wheels=len(housed),
        size=sum(one.path.stat().st_size for one in housed),
        shared=count["shared"],
        beside=count["beside"],
        fetched=count["index"],
        folder=folder,
    )


def _link(housed: Sequence[HousedWheel], folder: Path, requirements: str) -> None:
    """Link wheels into a folder, beside the list that pip installs them by."""
    list_ = folder / REQUIREMENTS_NAME
    if list_.is_file() and list_.read_bytes() != requirements.encode():
        message = f"{list_} is there already and lists something else"
        raise UsageError(message, hint="name another folder for --into")
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for one in housed:
            put(one.path, folder / one.wheel.name)
    atomic_write(list_, requirements)
