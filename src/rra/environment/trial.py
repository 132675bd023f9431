"""One try of an environment: lock it in a folder of its own, install it, import what it must.

Nothing of the artifact changes. What a try built from source is kept for the lock that is made in
the end, since a build gives other bytes each time. Where a package imports another that it does
not declare, as a backend that its user chooses, the other is added when the reviewed table of
imports knows it: an unknown name stays unknown, for installing it would run what it holds.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rra.environment.cutoff import suggest_python
from rra.environment.interpreter import find_interpreter
from rra.environment.lock import LockedEnvironment, lock_environment, with_interpreter
from rra.environment.materialise import materialise
from rra.environment.names import distribution_of_import, is_covered, is_standard
from rra.environment.overlap import shared_files
from rra.environment.platforms import find_platforms
from rra.environment.pylock import WHEELS_DIR
from rra.environment.resolve import Resolution, for_other_pythons, resolve
from rra.environment.revive import Attempt, Tried, ranked
from rra.environment.smoke import FailedImport, Installed, try_imports
from rra.environment.wheels import wheel_tags
from rra.environment.why import Reasons
from rra.errors import (
    EnvironmentBuildError,
    LockError,
    NoSolutionError,
    OtherFileError,
    RraError,
    ToolMissingError,
)

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.sandbox import Sandbox

_ID = "trial"
_RANK_SECONDS = 60
_ELSEWHERE = re.compile(r"cannot be reached|not found in the package registry|digest is another")
"""What no other Python and no other day changes."""

_NAME = re.compile(r"from (?P<module>\w+)[\w.]* import (?P<name>\w+)")
_GONE = re.compile(r"ImportError: cannot import name '\w+'(?! from partially initialized)")

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is tried.

    Attributes:
        artifact: The artifact.
        env_id: The environment's id.
        requirements: What it needs.
        statements: Import statements of the code, each with its top-level name.
        wheels: Folder that keeps what tries build.
        reasons: Where the wishes come from, with the digests of the author's own lock.
        may_add: Whether requirements may be added.
    """

    artifact: Artifact
    env_id: str
    requirements: Sequence[str]
    statements: Sequence[tuple[str, str]]
    wheels: Path
    reasons: Reasons
    may_add: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a try, and of which requirements.

    Attributes:
        tried: What came of it.
        failures: Imports that failed.
        added: Requirements beyond those of the subject → the failed import that asked for each.
    """

    tried: Tried
    failures: tuple[FailedImport, ...] = ()
    added: Mapping[str, FailedImport] = dataclasses.field(default_factory=dict)


_Answer = tuple[Tried, tuple[FailedImport, ...]]


class Trials:
    """Tries of one environment. What was installed once in the same versions is not again.

    Attributes:
        outcomes: What came of every try, in order; one Python and day may have several.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        progress: Progress = lambda _: None,
        sandbox: Sandbox | None = None,
    ) -> None:
        """Prepare; nothing is tried yet."""
        self.outcomes: list[Outcome] = []
        self._given = subject
        self._added: dict[str, FailedImport] = {}
        self._refused: set[str] = set()
        self._progress = progress
        self._sandbox = sandbox
        self._seen: dict[tuple[str, tuple[str, ...]], _Answer] = {}
        self._lacking: dict[str, _Answer] = {}

    @property
    def subject(self) -> Subject:
        """What is tried from now on: with what was found to be needed."""
        needed = (*self._given.requirements, *self._added)
        return dataclasses.replace(self._given, requirements=needed)

    def __call__(self, attempt: Attempt) -> Tried:
        """Try one Python and one day.

        Raises:
            LockError: An index cannot be reached, has no such package or has another file than the
            author had, so that no try can help.
        """
        outcome = self._try(attempt)
        while asked := self._undeclared(outcome):
            for name, failure in asked.items():
                self._progress(f"adding {name}, which no package declares: {failure}")
            self._added |= asked
            try:
                outcome = self._try(attempt)
            except LockError:
                for name in asked:
                    del self._added[name]
                self._refused |= asked.keys()
        return outcome.tried

    def outcome(self, best: Tried) -> Outcome:
        """Return what came of the best try of a search.

        Where nothing could be installed with what was added, the best try before that counts.
        """
        if best.stage in {"import", "works"}:
            return next(one for one in reversed(self.outcomes) if one.tried == best)
        return max(self.outcomes, key=lambda one: one.tried.merit())

    def _undeclared(self, outcome: Outcome) -> dict[str, FailedImport]:
        """Return distributions that a failed import needs and nothing brings."""
        if not self._given.may_add:
            return {}
        locked = {one.split()[0] for one in outcome.tried.versions}
        wanted: dict[str, FailedImport] = {}
        for failure in outcome.failures:
            if failure.kind == "version":
                known = [
                    name
                    for module in failure.absent
                    if not is_standard(module) and (name := distribution_of_import(module))
                ]
                if known and not is_covered(known[0], locked):
                    wanted.setdefault(known[0], failure)
        past = self._added.keys() | self._refused
        return {name: failure for name, failure in wanted.items() if name not in past}

    def _try(self, attempt: Attempt) -> Outcome:
        tried, failures = self._tried(attempt)
        told = tuple(
            f"{name} ({failure.statement} needs it)" for name, failure in self._added.items()
        )
        tried = dataclasses.replace(tried, attempt=attempt, added=told)
        outcome = Outcome(tried, failures, dict(self._added))
        self.outcomes.append(outcome)
        return outcome

    def _tried(self, attempt: Attempt) -> _Answer:
        with tempfile.TemporaryDirectory(prefix="rra-trial-") as name:
            place = Path(name)
            try:
                locked = self._lock(attempt, place)
            except NoSolutionError as error:
                return Tried(attempt, "resolve", error.message), ()
            except OtherFileError:
                raise
            except (LockError, ToolMissingError) as error:
                if _ELSEWHERE.search(error.message):
                    raise
                return Tried(attempt, "build", error.message), ()
            versions = tuple(f"{one.name} {one.version}" for one in locked.packages)
            for version in versions:
                if version in self._lacking:
                    tried, failures = self._lacking[version]
                    self._progress(f"{version} again, which lacks what the code imports of it")
                    return dataclasses.replace(tried, versions=versions), failures
            key = (attempt.python, versions)
            if key not in self._seen:
                answer = self._install(attempt, place, locked, versions)
                self._seen[key] = answer
                self._lacking |= dict.fromkeys(_lacking(answer[1], versions), answer)
            return self._seen[key]

    def _lock(self, attempt: Attempt, place: Path) -> LockedEnvironment:
        subject = self.subject
        given = subject.artifact.manifest.environments[subject.env_id]
        lock = f"environment/{_ID}/pylock.toml"
        env = given.model_copy(
            update={"python": attempt.python, "lock": lock, "wheels": None, "interpreter": None}
        )
        wheels = place / "environment" / _ID / WHEELS_DIR
        if subject.wheels.is_dir():
            shutil.copytree(subject.wheels, wheels)
        return lock_environment(
            place,
            _ID,
            env,
            subject.requirements,
            as_of=attempt.day,
            reasons=subject.reasons,
            trial=subject.wheels,
            progress=self._progress,
        )

    def _install(
        self, attempt: Attempt, place: Path, locked: LockedEnvironment, versions: tuple[str, ...]
    ) -> _Answer:
        subject = self.subject
        names = {package.name for package in locked.packages}
        statements = [text for text, _ in subject.statements]
        unnamed = [module for _, module in subject.statements if not _provided(module, names)]
        env = subject.artifact.manifest.environments[subject.env_id].model_copy(
            update={
                "python": attempt.python,
                "lock": f"environment/{_ID}/pylock.toml",
                "wheels": None,
                "interpreter": None,
            }
        )
        manifest = subject.artifact.manifest.model_copy(update={"environments": {_ID: env}})
        copy = dataclasses.replace(subject.artifact, root=place, manifest=manifest)
        try:
            made = materialise(
                copy, _ID, target=place / "installed", progress=self._progress, lasting=False
            )
        except (EnvironmentBuildError, RraError) as error:
            return Tried(attempt, "install", error.message, versions=versions), ()
        for shared in shared_files(made.root):
            self._progress(str(shared))
        base = find_interpreter(attempt.python, download=False).base_prefix
        self._progress(f"importing what the code imports: {len(statements)} statements")
        failed = try_imports(
            Installed(made.root, made.python, base),
            statements,
            unnamed=unnamed,
            sandbox=self._sandbox,
        )
        telling = [one for one in failed if one.kind == "version"]
        if telling:
            more = f" (and {len(telling) - 1} more)" if len(telling) > 1 else ""
            why = f"{telling[0]}{more}"
            return Tried(attempt, "import", why, len(telling), versions), failed
        return Tried(attempt, "works", versions=versions), failed


def _lacking(failures: Sequence[FailedImport], versions: Sequence[str]) -> Iterator[str]:
    """Yield the locked versions that were imported and lack a name that the code wants of them.

    They will lack it with any other Python, and beside any other packages.
    """
    for failure in failures:
        wanted = _NAME.fullmatch(failure.statement)
        if wanted and _GONE.match(failure.why) and f"'{wanted['name']}'" in failure.why:
            distribution = distribution_of_import(wanted["module"]) or wanted["module"]
            named = f"{canonicalize_name(distribution)} "
            yield from (version for version in versions if version.startswith(named))


def other_pythons(subject: Subject, start: Attempt) -> list[str]:
    """Return the other Pythons that are installed here, the most promising first.

    Versions are resolved for each with source distributions allowed; how many packages then have
    no wheel ranks the Pythons. A Python for which nothing resolves is left out; where that holds
    for all of them, the one that was usual on the day remains, for the tries on other days.
    """
    given = subject.artifact.manifest.environments[subject.env_id]
    platforms = find_platforms(given.platforms)
    target = Resolution(start.python, start.python, None, platforms, start.day, _RANK_SECONDS)
    counts = [
        (attempt.python, _without_wheel(subject.requirements, attempt))
        for attempt in for_other_pythons(with_interpreter(target))
    ]
    able = ranked(counts, start.python)
    usual, _ = suggest_python(start.day)
    return able or [python for python in [usual] if python != start.python]


def _without_wheel(requirements: Sequence[str], target: Resolution) -> int | None:
    try:
        packages = resolve(requirements, target)
    except LockError:
        return None
    tags = target.platforms[0].tags(target.python)
    return sum(
        not any(wheel_tags(wheel.name) & tags for wheel in package.wheels) for package in packages
    )


def _provided(module: str, names: set[str]) -> bool:
    distribution = distribution_of_import(module)
    return bool(distribution and distribution in names) or canonicalize_name(module) in names
