"""``rra lock --search``: the nearest Python and day with which an environment works."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base import clock
from rra._base.files import atomic_write
from rra.api._needed import Needed
from rra.api._result import Progress
from rra.artifact import Artifact, layout
from rra.artifact.edit import set_comment, set_value
from rra.errors import LockError, NoSolutionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rra.environment.revive import Attempt, Tried
    from rra.model import Environment

_FIXED = frozenset({"author", "paper-date"})
"""Reasons for a day that stands whatever is found: somebody decided it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Try:
    """One Python and one day that were tried.

    Attributes:
        stage: ``works``, or the step that failed: resolve, build, install, import.
        why: Why it failed, and what was added to the requirements.
    """

    python: str
    as_of: str
    stage: str
    why: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Found:
    """What a search came to.

    Attributes:
        python: The Python, as major.minor.
        as_of: The day.
        tried: All tries, in order.
        failing: Imports of the code that fail with it, each with its reason.
        python_why: Why that Python, in one sentence.
        as_of_why: Why that day, in one sentence.
        moved: Whether it is not where the search began.
        added: What was added to the requirements, each with why, in one sentence.
    """

    python: str
    as_of: str
    tried: tuple[Try, ...]
    failing: tuple[str, ...]
    python_why: str
    as_of_why: str
    moved: bool
    added: Mapping[str, str] = dataclasses.field(default_factory=dict)


def search_environment(
    artifact: Artifact,
    name: str,
    needed: Needed,
    as_of: str | None,
    progress: Progress,
) -> Found:
    """Try an environment, and other Pythons and days until one works; note it in ``rra.yaml``.

    Args:
        artifact: The artifact.
        name: The environment's id.
        needed: What it needs.
        as_of: The day, where it is not to be looked for.
        progress: Called with one line for each try.

    Raises:
        NoSolutionError: Nothing that was tried can be installed.
        UsageError: The day is none.
    """
    from rra.environment.revive import Search
    from rra.environment.trial import Subject, Trials, other_pythons
    from rra.environment.why import Reasons, without_credentials

    environment = artifact.manifest.environments[name]
    start, python_why, day_why = _start(artifact, environment, as_of)
    with tempfile.TemporaryDirectory(prefix="rra-search-") as scratch:
        wheels = Path(scratch) / "wheels"
        own = _own_wheels(artifact, name, environment)
        if own.is_dir():
            shutil.copytree(own, wheels)
        subject = Subject(
            artifact=artifact,
            env_id=name,
            requirements=needed.requirements,
            statements=needed_imports(artifact),
            wheels=wheels,
            reasons=Reasons(manifest=needed.manifest, digests=needed.digests),
            may_add=not needed.digests
            and all(without_credentials(one) == one for one in needed.requirements),
        )
        trials = Trials(subject, progress=progress)
        search = Search(trials, tell=progress)
        move_day = as_of is None and environment.as_of_why not in _FIXED
        today = clock.iso(clock.now())[:10]
        best = search.run(
            start, lambda: other_pythons(trials.subject, start), today=today, move_day=move_day
        )
        outcome = trials.outcome(best)
        best = outcome.tried
        if best.stage not in {"import", "works"}:
            raise _nothing(best, len(search.tried), needed.manifest)
        _keep_wheels(wheels, own, best.versions)
    found = Found(
        python=start_python(environment, start, best.attempt),
        as_of=best.attempt.day,
        tried=tuple(_try(one) for one in search.tried),
        failing=tuple(f"{one} [{one.kind}]" for one in outcome.failures),
        python_why=python_why,
        as_of_why=day_why,
        moved=best.attempt != start,
        added={
            name: f"{failure.statement} needs it, and no package declares it"
            for name, failure in outcome.added.items()
        },
    )
    found = _explained(found, start, best, search.tried)
    _note(artifact, name, found, [*needed.requirements, *found.added])
    return found


def start_python(environment: Environment, start: Attempt, chosen: Attempt) -> str:
    """Return what the manifest says of Python where that was not changed, else the new one."""
    if environment.python and chosen.python == start.python:
        return environment.python
    return chosen.python


def _start(
    artifact: Artifact, environment: Environment, as_of: str | None
) -> tuple[Attempt, str, str]:
    from rra.environment import suggest_as_of, suggest_python
    from rra.environment.cutoff import cutoff_timestamp
    from rra.environment.platforms import parse_minor
    from rra.environment.revive import Attempt

    suggested, because = suggest_as_of(artifact.code_root)
    day, why = suggested, because
    if as_of:
        day, why = as_of, "asked for with --as-of"
    elif environment.as_of:
        day = environment.as_of
        why = because if day == suggested else f"as_of in {layout.MANIFEST}"
    cutoff_timestamp(day)
    if environment.python:
        python = "{}.{}".format(*parse_minor(environment.python))
        return Attempt(python, day[:10]), f"python in {layout.MANIFEST}", why
    python, python_why = suggest_python(day)
    return Attempt(python, day[:10]), python_why, why


def needed_imports(artifact: Artifact) -> tuple[tuple[str, str], ...]:
    """Return what the code imports when it is loaded: each statement with its package's name."""
    from rra.environment.names import is_standard
    from rra.scan import third_party_imports
    from rra.scan.imports import import_statements

    files = artifact.code_files()
    modules = third_party_imports(artifact.code_root, files)
    found = import_statements(artifact.code_root, files, modules)
    return tuple((one.text, one.module) for one in found if not is_standard(one.module))


def _own_wheels(artifact: Artifact, name: str, environment: Environment) -> Path:
    lock = artifact.path(environment.lock or f"environment/{name}/pylock.toml")
    return lock.parent / "wheels"


def _keep_wheels(made: Path, own: Path, versions: Collection[str]) -> None:
    """Keep what was built of the versions that are locked, so that the lock names these files."""
    from packaging.utils import parse_wheel_filename

    for path in sorted(made.glob("*.whl")):
        name, version, _, _ = parse_wheel_filename(path.name)
        if f"{name} {version}" in versions and not (own / path.name).exists():
            own.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, own / path.name)


def _explained(found: Found, start: Attempt, best: Tried, tried: list[Tried]) -> Found:
    """Add to the reasons what the search changed."""
    if not found.moved:
        return found
    first = tried[0]
    near = f"the nearest that works of {len(tried)} tried" if best.works else "it came furthest"
    because = f"{near}; with {first}"
    if best.attempt.python != start.python:
        found = dataclasses.replace(found, python_why=because)
    if best.attempt.day != start.day:
        found = dataclasses.replace(found, as_of_why=f"bisected from {start.day}: {because}")
    return found


def _note(artifact: Artifact, name: str, found: Found, requirements: Sequence[str]) -> None:
    """Write what was found into ``rra.yaml``, which decides what is locked from now on."""
    environment = artifact.manifest.environments[name]
    wanted: dict[str, str | list[str]] = {"python": found.python, "as_of": found.as_of}
    if found.as_of_why.startswith("bisected"):
        wanted["as_of_why"] = "bisected"
    elif found.as_of_why.startswith("last commit") and environment.as_of is None:
        wanted["as_of_why"] = "manifest-commit"
    if found.added:
        wanted["requirements"] = list(requirements)
    path = artifact.root / layout.MANIFEST
    before = text = path.read_text("utf-8")
    place = ("environments", name)
    current: Mapping[str, object] = environment.to_json()
    for key, value in wanted.items():
        if current.get(key) != value:
            text = set_value(text, (*place, key), value)
    if found.python != environment.python:
        why = f"Python: {found.python_why}"
        text = set_comment(text, (*place, "python"), why, begins="Python: ")
    for added, why in found.added.items():
        said = f"{added}: {why}"
        text = set_comment(text, (*place, "requirements"), said, begins=f"{added}: ")
    if text != before:
        atomic_write(path, text)


def _try(one: Tried) -> Try:
    why = f"{one.why}{one.addition()}".removeprefix(", ")
    return Try(python=one.attempt.python, as_of=one.attempt.day, stage=one.stage, why=why)


def _nothing(best: Tried, count: int, manifest: str) -> LockError:
    message = f"none of {count} tries of a Python and a day can be installed; {best} came furthest"
    hint = (
        f"loosen the requirements in {manifest}, install another Python, or build "
        "the wheel that is missing and put it into the environment's wheels/ folder"
    )
    return NoSolutionError(message, hint=hint)
