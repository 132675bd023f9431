"""Artifacts that many tests start from, made once a session by the command itself."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.command import rra
from tests.acceptance.honesty.repositories import HONEST
from tests.acceptance.search_path import path_without

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.acceptance.honesty.repositories import Repository

STAGES = (("init", "--no-input"), ("lock",), ("run",), ("guide",))


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all workers of this session."""
    session = tmp_path_factory.getbasetemp()
    return session.parent if session.name.startswith("popen-") else session


def once(target: Path, make: Callable[[Path], object]) -> Path:
    """Have a folder made by whichever worker comes first, and never seen half-made."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        make(own / "made")
        try:
            (own / "made").rename(target)
        except OSError:
            assert target.exists()
        shutil.rmtree(own, ignore_errors=True)
    return target


@pytest.fixture(scope="session")
def drafted(workshop: Path) -> Callable[[Repository], Path]:
    """Gives a repository after ``init --no-input``, ``lock`` and ``run``, to be copied."""
    env = {"RRA_CACHE": str(workshop / "rra-cache"), "NO_COLOR": "1"}

    def make(repository: Repository) -> Path:
        def through(place: Path) -> None:
            repository.write(place / "nearest-mean")
            own = {**env, "RRA_STATE": str(place / "state")}
            for verb in STAGES[:3]:
                rra(*verb, cwd=place / "nearest-mean", env=own).expect(0)

        return once(workshop / "drafted" / repository.name, through) / "nearest-mean"

    return make


@pytest.fixture(scope="session")
def stages(workshop: Path) -> dict[str, Path]:
    """The honest repository after each verb: ``found``, ``init``, ``lock``, ``run``, ``guide``."""
    env = {"RRA_CACHE": str(workshop / "rra-cache"), "NO_COLOR": "1"}

    def make(place: Path) -> None:
        HONEST[0].write(place / "found" / "nearest-mean")
        own = {**env, "RRA_STATE": str(place / "state")}
        before = "found"
        for verb in STAGES:
            shutil.copytree(place / before, place / verb[0], symlinks=True)
            rra(*verb, cwd=place / verb[0] / "nearest-mean", env=own).expect(0)
            before = verb[0]

    made = once(workshop / "stages", make)
    return {name: made / name / "nearest-mean" for name in ("found", *(s[0] for s in STAGES))}


@pytest.fixture(scope="session")
def tools_left(workshop: Path) -> Callable[..., str]:
    """Gives a PATH without some programs: ``tools_left("bwrap", "strace")``."""

    def without(*missing: str) -> str:
        if not missing:
            return os.environ["PATH"]
        name = "-".join(("without", *missing))
        return str(once(workshop / "paths" / name, lambda place: path_without(place, *missing)))

    return without
