"""Running a launcher with what it needs, in a place of its own, and reading its outcomes."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rra._base.files import remove_tree
from rra.artifact import Artifact
from rra.audit.groups import Group, draw_seed
from rra.audit.inquiry import Answer, Runner
from rra.environment import Built
from rra.errors import RraError
from rra.evidence import EvidenceStore
from rra.launch import RunRequest, RunResult, order_launchers, run_launcher
from rra.model import Outcome
from rra.sandbox import Sandbox
from rra.values.selectors import OutcomeValue, Value, select_outcome


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What runs share.

    Attributes:
        environments: Materialised environments by id.
        sandbox: How runs are isolated; the best that works when None.
        on_line: Told the newest line that a launcher prints.
        core: Core digest for the records.
    """

    environments: Mapping[str, Built]
    sandbox: Sandbox | None = None
    on_line: Callable[[str], None] | None = None
    core: str | None = None


@dataclasses.dataclass(frozen=True)
class Ground:
    """Where fresh runs happen.

    Attributes:
        place: The artifact as a stranger has it; nobody else uses this copy.
        surroundings: Environments and isolation.
        scratch: Folder for what is thrown away.
        nonce: Nonce of the unchanged runs; seeds are drawn from it.
    """

    place: Artifact
    surroundings: Surroundings
    scratch: Path
    nonce: str


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """A launcher that ran after what it needs.

    Attributes:
        result: Of the launcher itself; None when something it needs failed first.
        results: Of every launcher that ran, by id.
        message: Why it did not succeed; empty when it did.
    """

    result: RunResult | None
    results: Mapping[str, RunResult]
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the launcher and all that it needs succeeded."""
        return not self.message


class Sweep:
    """Runs that share one output root, so that what several launchers need runs once."""

    def __init__(
        self,
        place: Artifact,
        surroundings: Surroundings,
        *,
        outputs_root: Path,
        nonce: str,
        seeds: Callable[[str], int | None],
        evidence: EvidenceStore | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            place: The artifact as a stranger has it.
            surroundings: Environments and isolation.
            outputs_root: Where outputs go.
            nonce: Nonce of the runs.
            seeds: Seed of a launcher by its id.
            evidence: Where records are kept.
        """
        self._place = place
        self._surroundings = surroundings
        self._outputs_root = outputs_root
        self._nonce = nonce
        self._seeds = seeds
        self._evidence = evidence
        self._done: dict[tuple[str, str], RunResult] = {}

    def run(self, group: Group) -> Chain:
        """Run the launcher of a group after what it needs; what ran already is used.

        Raises:
            RraError: The run cannot even be tried.
        """
        results: dict[str, RunResult] = {}
        for name in order_launchers(self._place.manifest, [group.launcher]):
            own = name == group.launcher
            instance = group.instance if own else "default"
            if (name, instance) not in self._done:
                parameters = group.parameters if own else {}
                self._done[name, instance] = self._launch(name, instance, parameters)
            results[name] = self._done[name, instance]
            if not results[name].ok:
                what = "" if own else f"{name}, which it needs: "
                return Chain(results[name] if own else None, results, what + results[name].message)
        return Chain(results[group.launcher], results)

    def _launch(self, name: str, instance: str, parameters: Mapping[str, object]) -> RunResult:
        launcher = self._place.manifest.launchers[name]
        return run_launcher(
            RunRequest(
                artifact=self._place,
                launcher=name,
                environment=self._surroundings.environments[launcher.environment],
                outputs_root=self._outputs_root,
                evidence=self._evidence,
                nonce=self._nonce,
                seed=self._seeds(name),
                parameters=dict(parameters),
                instance=instance,
                sandbox=self._surroundings.sandbox,
                on_line=self._surroundings.on_line,
                core=self._surroundings.core,
            )
        )


class Reruns:
    """All fresh runs of an artifact: sweep 0, 1, … each with outputs and seeds of its own."""

    def __init__(
        self,
        place: Artifact,
        surroundings: Surroundings,
        *,
        outputs: Path,
        nonce: str,
        run_nonce: str | None = None,
        evidence: EvidenceStore | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            place: The artifact as a stranger has it.
            surroundings: Environments and isolation.
            outputs: Folder for the outputs of all sweeps.
            nonce: Nonce that seeds are drawn from.
            run_nonce: Nonce that launchers get; the same by default.
            evidence: Where records are kept.
        """
        self._place = place
        self._surroundings = surroundings
        self._outputs = outputs
        self._nonce = nonce
        self._run_nonce = run_nonce or nonce
        self._evidence = evidence
        self._sweeps: dict[int, Sweep] = {}

    def report(self, group: Group, number: int) -> list[Chain]:
        """Make the runs of one report; those after a failed one are left out.

        Args:
            group: What is run.
            number: Counts reports from 0.

        Raises:
            RraError: A run cannot even be tried.
        """
        chains: list[Chain] = []
        for index in range(number * group.count, (number + 1) * group.count):
            chains.append(self._sweep(index).run(group))
            if not chains[-1].ok:
                break
        return chains

    def _sweep(self, index: int) -> Sweep:
        def seed(launcher_id: str) -> int | None:
            launcher = self._place.manifest.launchers[launcher_id]
            return draw_seed(launcher_id, launcher, self._nonce, index)

        if index not in self._sweeps:
            self._sweeps[index] = Sweep(
                self._place,
                self._surroundings,
                outputs_root=self._outputs / f"{index + 1:02d}",
                nonce=self._run_nonce,
                seeds=seed,
                evidence=self._evidence,
            )
        return self._sweeps[index]


def read_value(chains: Sequence[Chain], outcome: Outcome) -> OutcomeValue:
    """Read an outcome from the runs that make one report of it.

    Raises:
        SelectError: There is no value, or several.
    """
    results = [chain.result for chain in chains if chain.result is not None]
    return select_outcome([result.outputs_dir for result in results], outcome)


def probe_runner(group: Group, outcomes: Mapping[str, Outcome], ground: Ground) -> Runner:
    """Return what runs a launcher for the probe: the seeds of the first report each time.

    Args:
        group: What is run.
        outcomes: Its outcomes by id, as the unchanged artifact declares them.
        ground: Where runs happen; outputs are removed after each.
    """
    counter = itertools.count(1)

    def run(place: Artifact) -> Answer:
        number = next(counter)
        root = ground.scratch / f"probe-{group.launcher}-{number:03d}"
        own = hashlib.sha256(f"{ground.nonce}/probe/{number}".encode()).hexdigest()
        reruns = Reruns(
            place,
            ground.surroundings,
            outputs=root,
            nonce=ground.nonce,
            run_nonce=own[: len(ground.nonce)],
        )
        try:
            chains = reruns.report(group, 0)
            if not chains[-1].ok:
                return Answer({}, chains[-1].message)
            return Answer({name: _value(chains, outcome) for name, outcome in outcomes.items()})
        finally:
            if root.exists():
                remove_tree(root)

    return run


def _value(chains: Sequence[Chain], outcome: Outcome) -> Value | None:
    try:
        return read_value(chains, outcome).value
    except RraError:
        return None
