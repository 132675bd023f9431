"""Verifying as a stranger: a plan first, then fresh place, fresh environments, fresh runs."""

from __future__ import annotations

import dataclasses
import functools
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rra._base import clock
from rra._base.canonical import dumps
from rra._base.files import atomic_write, remove_tree
from rra._base.places import state_root
from rra.artifact import BLANK_MARK, Artifact
from rra.audit import Budget
from rra.audit.copies import find_copies
from rra.audit.groups import Group
from rra.audit.predictions import not_recomputed
from rra.audit.rerun import Chain, Ground, Reruns, Surroundings
from rra.bundle.identity import core_digest
from rra.bundle.lock_state import lock_notes
from rra.environment import Built, platform_facts
from rra.errors import PlatformError, RraError, StorageError, UnavailableError, UsageError
from rra.evidence import EvidenceStore
from rra.launch import (
    RunResult,
    build_environment,
    fetch_item,
    isolation_level,
    stage_place,
)
from rra.model import Launcher, ReferencesDocument
from rra.model.base import Object
from rra.model.verdicts import combine_verdicts
from rra.sandbox import Sandbox, best_sandbox
from rra.values.success import DEFAULT_ALPHA
from rra.verify.conclusions import coverage_of, level_of
from rra.verify.derived import conclude_derived
from rra.verify.documents import (
    EnvironmentFacts,
    LauncherRun,
    OutcomeReproduction,
    Reproduction,
    VerificationPlan,
)
from rra.verify.outcomes import Obtained, blocked, conclude, probed
from rra.verify.plan import PLAN, Terms, all_groups, earlier_attempts, make_plan

REPRODUCTION = "reproduction.json"
_PLACE = "place"


class Builder(Protocol):
    """Builds a locked environment anew in a folder, as `rra.launch.build_environment` does."""

    def __call__(self, artifact: Artifact, env_id: str, *, target: Path | None = None) -> Built:
        """Build it."""


@dataclasses.dataclass(frozen=True)
class Options:
    """How a verification is done.

    Attributes:
        references: Values of earlier runs; never shown to a launcher.
        sandbox: How runs are isolated; the best that works by default.
        accept_documented: The reader accepts deviations that are documented.
        alpha: Two-sided level for all outcomes together.
        reports: Fresh values of launchers that are not declared deterministic.
        nonce: Nonce; drawn by default.
        keep: Leave place and environments behind.
        well_formed: Whether level 0 holds, and why not; from lint.
        history: Folder below which earlier verifications stand.
        build: Builds an environment; `rra.launch.build_environment` in the sandbox by default.
        budget: Bounds of the probe for hard-coding.
        progress: Told about steps.
        on_line: Told the newest line that a launcher prints.
    """

    references: ReferencesDocument | None = None
    sandbox: Sandbox | None = None
    accept_documented: bool = False
    alpha: float = DEFAULT_ALPHA
    reports: int | None = None
    nonce: str | None = None
    keep: bool = False
    well_formed: tuple[bool, list[str]] = (True, [])
    history: Path | None = None
    build: Builder | None = None
    budget: Budget | None = None
    progress: Callable[[str], None] | None = None
    on_line: Callable[[str], None] | None = None


def verify_artifact(
    artifact: Artifact, directory: Path, options: Options | None = None
) -> Reproduction:
    """Run everything that an artifact declares anew, and judge it.

    `directory` ends with ``plan.json`` (written before anything runs), ``reproduction.json``,
    ``evidence/`` and ``outputs/``.

    Args:
        artifact: The artifact; it is only read.
        directory: Folder for this verification; new or empty.
        options: How.

    Raises:
        UsageError: The folder is in use, an environment is not locked, or a reported value is
            still a blank.
        CorruptError: A lock is not the one that ``rra.lock`` names.
        FormatError: A file of the artifact has no place in an archive, so it has no core.
        StorageError: The disk is full or refuses.
    """
    _refuse_blanks(artifact)
    if directory.exists() and any(directory.iterdir()):
        message = f"{directory} is in use"
        raise UsageError(message, hint="name a folder that is empty or does not exist")
    return _Verification(artifact, directory.absolute(), options or Options()).run()


def _refuse_blanks(artifact: Artifact) -> None:
    """Refuse outcomes whose reported value nobody has filled in."""
    blank = [
        name
        for name, outcome in artifact.manifest.reported_values().items()
        if BLANK_MARK in str(outcome.reported)
    ]
    if blank:
        message = f"what is reported is still a blank: {', '.join(blank)}"
        raise UsageError(message, hint="fill in `reported` in rra.yaml as the paper has it")


class _Verification:
    def __init__(self, artifact: Artifact, directory: Path, options: Options) -> None:
        self._artifact = artifact
        self._directory = directory
        self._options = options
        self._sandbox = options.sandbox or best_sandbox()
        self._core = core_digest(artifact)
        self._history = options.history or state_root() / "verifications"
        self._references = options.references.root if options.references is not None else {}
        self._builder = options.build or functools.partial(build_environment, sandbox=self._sandbox)
        self._environments: list[EnvironmentFacts] = []
        self._platform: set[str] = set()
        self._runs: dict[str, LauncherRun] = {}
        self._outcomes: dict[str, OutcomeReproduction] = {}

    def run(self) -> Reproduction:
        started = clock.iso(clock.now())
        self._say("writing the plan")
        plan = self._plan()
        _write(self._directory / PLAN, plan)
        place_root = self._directory / _PLACE
        try:
            self._execute(plan, place_root)
        finally:
            if place_root.exists() and not self._options.keep:
                remove_tree(place_root)
        reproduction = self._conclude(plan, started)
        _write(self._directory / REPRODUCTION, reproduction)
        return reproduction

    def _say(self, text: str) -> None:
        if self._options.progress is not None:
            self._options.progress(text)

    def _plan(self) -> VerificationPlan:
        options = self._options
        used = {one.environment for one in self._artifact.manifest.launchers.values()}
        terms = Terms(
            core=self._core,
            nonce=options.nonce or secrets.token_hex(16),
            sandbox=isolation_level(self._artifact, used, self._sandbox),
            references=options.references,
            attempt=earlier_attempts(self._history, self._core) + 1,
            alpha=options.alpha,
            reports=options.reports,
        )
        return make_plan(self._artifact, terms)

    # ---------------------------------------------------------------- execution

    def _execute(self, plan: VerificationPlan, place_root: Path) -> None:
        self._say("copying the artifact into a fresh place")
        place = stage_place(self._artifact, place_root / "artifact")
        environments = self._build(place, plan, place_root / "environments")
        surroundings = Surroundings(
            environments, self._sandbox, self._options.on_line, core=self._core
        )
        ground = Ground(place, surroundings, place_root / "scratch", plan.nonce)
        reruns = Reruns(
            place,
            surroundings,
            outputs=self._directory / "outputs",
            nonce=plan.nonce,
            evidence=EvidenceStore(self._directory / "evidence"),
        )
        for group in all_groups(self._artifact):
            self._verify_group(group, plan, reruns, ground)

    def _build(self, place: Artifact, plan: VerificationPlan, target: Path) -> dict[str, Built]:
        """Build every environment anew; one that cannot be built is noted."""
        manifest = place.manifest
        used = [manifest.launchers[name].environment for name in plan.launchers]
        built: dict[str, Built] = {}
        for name in dict.fromkeys(used):
            self._say(f"building environment {name}")
            try:
                built[name] = self._builder(place, name, target=target / name)
            except StorageError:
                raise
            except UnavailableError as error:
                if isinstance(error, PlatformError):
                    self._platform.add(name)
                self._environments.append(
                    EnvironmentFacts(id=name, ok=False, message=error.message)
                )
                continue
            self._environments.append(_facts(built[name]))
        return built

    def _verify_group(
        self, group: Group, plan: VerificationPlan, reruns: Reruns, ground: Ground
    ) -> None:
        planned = next(
            runs
            for runs in plan.runs
            if (runs.launcher, runs.instance) == (group.launcher, group.instance)
            and runs.outcomes == list(group.outcomes)
        )
        hindrance = self._hindrance(group, ground)
        reports: list[list[Chain]] = []
        if hindrance is None:
            for number in range(planned.reports):
                of = f" ({number + 1} of {planned.reports})" if planned.reports > 1 else ""
                self._say(f"running {group.launcher}{of}")
                reports.append(self._report(group, number, reruns))
                if not reports[-1] or not reports[-1][-1].ok:
                    break
        obtained = {
            name: Obtained.read(self._artifact, name, reports, hindrance) for name in group.outcomes
        }
        self._judge(group, obtained, plan, ground)

    def _hindrance(self, group: Group, ground: Ground) -> tuple[str, str] | None:
        """Return why a launcher cannot be run here: a word and a sentence."""
        manifest = ground.place.manifest
        for name in _chain(manifest.launchers, group.launcher):
            launcher = manifest.launchers[name]
            if launcher.environment not in ground.surroundings.environments:
                failed = [e for e in self._environments if e.id == launcher.environment]
                word = "platform" if launcher.environment in self._platform else "environment"
                return word, failed[0].message if failed else "it was not built"
            for item in launcher.inputs:
                data = manifest.data[item]
                if data.access != "bundled":
                    try:
                        fetch_item(ground.place, item, progress=self._say)
                    except StorageError:
                        raise
                    except RraError as error:
                        return "data unavailable", f"{error.message}; {error.hint}"
        return None

    def _report(self, group: Group, number: int, reruns: Reruns) -> list[Chain]:
        try:
            chains = reruns.report(group, number)
        except StorageError:
            raise
        except RraError as error:
            run = LauncherRun(
                launcher=group.launcher,
                instance=group.instance,
                report=number + 1,
                ok=False,
                message=error.message,
            )
            self._runs[f"{group.launcher}/{group.instance}/{number}"] = run
            return [Chain(None, {}, error.message)]
        for chain in chains:
            for name, result in chain.results.items():
                if result.record_digest not in self._runs:
                    self._runs[result.record_digest] = _run_of(name, number, result)
        return chains

    def _judge(
        self,
        group: Group,
        obtained: Mapping[str, Obtained],
        plan: VerificationPlan,
        ground: Ground,
    ) -> None:
        verdicts = {
            name: conclude(
                self._artifact,
                name,
                one,
                self._references.get(name),
                alpha=plan.alpha,
                run_count=len(plan.outcomes),
            )
            for name, one in obtained.items()
        }
        asked = {
            name: obtained[name].values
            for name, verdict in verdicts.items()
            if verdict.verdict in {"reproduced", "deviates_as_documented", "inconclusive"}
        }
        if asked:
            found = find_copies(
                ground,
                group,
                asked,
                self._artifact.manifest.outcomes(),
                budget=self._options.budget,
                progress=self._options.progress,
            )
            for name, findings in found.items():
                verdicts[name] = probed(verdicts[name], findings)
        self._outcomes |= verdicts

    # --------------------------------------------------------------- conclusion

    def _conclude(self, plan: VerificationPlan, started: str) -> Reproduction:
        manifest = self._artifact.manifest
        made = {
            name: self._outcomes.get(name) or blocked(self._artifact, name)
            for name in manifest.outcomes()
        }
        derived = conclude_derived(
            self._artifact,
            made,
            self._references,
            alpha=plan.alpha,
            run_count=len(plan.outcomes),
        )
        outcomes = [(made | derived)[name] for name in manifest.reported_values()]
        runs = list(self._runs.values())
        level = level_of(plan, self._environments, runs, outcomes, self._options.well_formed)
        experiments = {
            name: combine_verdicts(o.verdict for o in outcomes if o.outcome.startswith(f"{name}/"))
            for name in manifest.experiments
        }
        return Reproduction(
            type="reproduction/v1",
            artifact=plan.artifact,
            version=plan.version,
            core=plan.core,
            plan=plan,
            attempts=max(earlier_attempts(self._history, self._core), plan.attempt),
            started=started,
            ended=clock.iso(clock.now()),
            machine=platform_facts(),
            environments=self._environments,
            runs=runs,
            outcomes=outcomes,
            experiments=experiments,
            verdict=combine_verdicts(outcome.verdict for outcome in outcomes),
            level=level.level,
            level_reasons=level.reasons,
            coverage=coverage_of(level.level, outcomes),
            accepted_documented=self._options.accept_documented,
            notes=[
                *self._artifact.notes,
                *not_recomputed(manifest),
                *lock_notes(self._artifact, self._core),
                *(f"not isolated: {gap}" for gap in self._sandbox.gaps),
            ],
        )


def _write(path: Path, document: Object) -> None:
    atomic_write(path, dumps(document.to_json()) + b"\n")


def _chain(launchers: Mapping[str, Launcher], name: str) -> Sequence[str]:
    """Return a launcher and everything it needs, itself first."""
    found = [name]
    for needed in launchers[name].needs:
        found += [one for one in _chain(launchers, needed) if one not in found]
    return found


def _facts(environment: Built) -> EnvironmentFacts:
    return EnvironmentFacts(
        id=environment.id,
        ok=True,
        python=environment.version or None,
        packages=len(environment.packages),
        lock=environment.lock_digest,
        installed=environment.installed_digest,
        interpreter=environment.interpreter,
    )


def _run_of(name: str, number: int, result: RunResult) -> LauncherRun:
    record = result.record
    return LauncherRun(
        launcher=name,
        instance=record.instance,
        report=number + 1,
        seed=record.seed.declared,
        ok=result.ok,
        message="" if result.ok else result.message,
        termination=record.termination,
        command=record.argv,
        record=result.record_digest,
        seconds=record.resources.wall,
        peak_bytes=record.resources.max_rss,
        sandbox=record.sandbox.level,
        sandbox_gaps=record.sandbox.gaps,
        recorder=record.recorder.level,
        recorder_gaps=record.recorder.gaps,
    )
