"""Making the plan of `rra run` from what was asked for."""

from __future__ import annotations

import dataclasses
import difflib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rra.artifact import Artifact
from rra.bundle import core_digest
from rra.bundle.canonical import diff_id
from rra.bundle.identity import CORE_ELEMENTS
from rra.errors import UsageError
from rra.launch.instances import REDUCED, SEED, SMOKE, Instance, instances_of
from rra.launch.keys import KeyMaker
from rra.launch.parameters import Scalar, Settings, settle
from rra.launch.plan import order_launchers
from rra.launch.tasks import Asked, Need, Plan, Share, Task
from rra.model import Launcher
from rra.values.units import convert


def make_plan(
    artifact: Artifact,
    asked: Asked,
    *,
    sandbox: str | None = None,
    backend: str = "local",
    nonce: str | None = None,
) -> Plan:
    """Decide what is run, in which order, and what decides each run.

    A launcher has one instance for each seed and each combination of its matrix that was asked
    for. An instance reads, of a launcher that it needs, the instance with its own values: it finds
    those outputs where it finds them when it runs alone. Where the needed launcher has several
    instances that fit, as for a launcher that makes a table of all seeds, it finds each below
    the launcher's folder, under its name.

    Args:
        artifact: The artifact.
        asked: What was asked for.
        sandbox: Word for the isolation; None for the best that works where a task runs.
        backend: Word of the backend.
        nonce: Nonce of the runs; drawn by default.

    Raises:
        UsageError: A launcher or parameter is unknown, a value does not fit, or what is asked
            for applies to no launcher.
        FormatError: A file of the artifact has no place in an archive, so it has no core.
    """
    _check(asked)
    elements = {name: diff_id(artifact.root, artifact.packed_files(name)) for name in CORE_ELEMENTS}
    planner = _Planner(artifact, asked, elements["code"].diff_id)
    return Plan(
        artifact=artifact.root,
        core=core_digest(artifact, elements),
        nonce=nonce or secrets.token_hex(16),
        sandbox=sandbox,
        backend=backend,
        asked=asked,
        tasks=planner.tasks(),
        unsupported=planner.unsupported(),
    )


def _check(asked: Asked) -> None:
    for name, value in asked.parameters.items():
        try:
            f"{name}={value}".encode()
        except UnicodeEncodeError as error:
            shown = f"{name}={value}".encode("ascii", "backslashreplace").decode()
            message = f"--set {shown} is not UTF-8, and no record can hold it"
            raise UsageError(message, hint="write the value in UTF-8") from error
    if asked.seed is not None and asked.seeds is not None:
        message = "one seed or several: --seed and --seeds do not go together"
        raise UsageError(message, hint="give the one seed to --seeds")
    if asked.smoke and asked.reduced:
        message = "a run is a smoke run or a reduced run, not both"
        raise UsageError(message, hint="leave out --smoke or --reduced")


@dataclasses.dataclass(frozen=True, slots=True)
class _Made:
    task: Task
    axes: Mapping[str, Scalar]


class _Planner:
    def __init__(self, artifact: Artifact, asked: Asked, code: str) -> None:
        self._artifact = artifact
        self._launchers = artifact.manifest.launchers
        self._asked = asked
        self._order = order_launchers(artifact.manifest, asked.launchers or None)
        self._given = split_parameters(artifact, self._order, asked.parameters)
        self._keys = KeyMaker(artifact, code)
        self._made: dict[str, list[_Made]] = {}
        self._reduced: dict[str, bool] = {}

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks, each after those it needs."""
        self._refuse_idle()
        for name in self._order:
            own = self._launchers[name]
            below = any(self._reduced[needed] for needed in own.needs)
            self._reduced[name] = self._asked.reduced and (own.reduced is not None or below)
            instances = instances_of(
                own,
                seeds=self._asked.seeds,
                matrix=self._asked.matrix,
                given=self._set_by_the_caller(name),
                mode=SMOKE if self._asked.smoke else REDUCED if self._reduced[name] else None,
            )
            self._made[name] = [self._task(name, instance) for instance in instances]
        return tuple(one.task for name in self._order for one in self._made[name])

    def _refuse_idle(self) -> None:
        """Refuse what applies to no launcher, rather than do as if it had been done."""
        mine = [self._launchers[name] for name in self._order]
        for option, wanted, takers in (
            ("--seeds", self._asked.seeds is not None, [o.seeds for o in mine]),
            ("--matrix", self._asked.matrix, [o.matrix for o in mine]),
            ("--reduced", self._asked.reduced, [o.reduced for o in mine]),
        ):
            if wanted and not any(one is not None for one in takers):
                key = option.removeprefix("--")
                message = f"{option}: no launcher of this run has `{key}`"
                raise UsageError(message, hint=f"declare `{key}` of a launcher in rra.yaml")

    def _task(self, name: str, instance: Instance) -> _Made:
        launcher = self._launchers[name]
        settings = self._settle(name, instance.axes)
        needs = self._needs(name, instance)
        keys = {one.task.id: one.task.key for made in self._made.values() for one in made}
        return _Made(
            Task(
                launcher=name,
                instance=instance.name,
                parameters=settings.values,
                seed=settings.seed,
                needs=needs,
                share=share_of(launcher),
                hint=launcher.hint.wall if launcher.hint is not None else None,
                wall=launcher.limits.wall if launcher.limits is not None else None,
                key=self._keys.key(
                    name,
                    settings,
                    [(need.place, keys[need.task]) for need in needs],
                    smoke=self._asked.smoke,
                ),
            ),
            instance.axes,
        )

    def _settle(self, name: str, axes: Mapping[str, Scalar]) -> Settings:
        """Return what an instance is given; what the caller set comes over reduced values."""
        launcher = self._launchers[name]
        point = {axis: value for axis, value in axes.items() if axis != SEED}
        seed = axes.get(SEED)
        given = self._given.get(name, {})
        taken = launcher.seeds.parameter if launcher.seeds is not None else None
        if seed is not None and taken in given:
            message = f"{taken} of {name} takes the seed, and --seeds gives several"
            raise UsageError(message, hint=f"leave out --set {taken}=…")
        short: Mapping[str, Any] = {}
        if self._asked.reduced and launcher.reduced is not None:
            short = launcher.reduced.parameters
        return settle(
            launcher,
            {**short, **point, **given},
            seed=seed if isinstance(seed, int) else self._asked.seed,
            smoke=self._asked.smoke,
        )

    def _set_by_the_caller(self, name: str) -> dict[str, Scalar]:
        given = self._given.get(name, {})
        values = self._settle(name, {}).values if given else {}
        return {key: values[key] for key in given}

    def _needs(self, name: str, instance: Instance) -> tuple[Need, ...]:
        found: list[Need] = []
        for needed in self._launchers[name].needs:
            made = self._made[needed]
            fitting = [one for one in made if _fits(one.axes, instance.axes)]
            if not fitting:
                message = f"{name} with {instance.name} needs {needed}, which runs with none of it"
                hint = "give both the same values in their matrix, or run without --matrix"
                raise UsageError(message, hint=hint)
            alone = len(fitting) == 1 and fitting[0].axes.keys() <= instance.axes.keys()
            found += [
                Need(one.task.id, needed if alone else f"{needed}/{one.task.instance}")
                for one in fitting
            ]
        return tuple(found)

    def unsupported(self) -> tuple[str, ...]:
        """Return what the reduced runs say nothing about."""
        names = [name for name, is_reduced in self._reduced.items() if is_reduced]
        declared = [self._launchers[name].reduced for name in names]
        found = [one for reduced in declared if reduced for one in reduced.cannot_support]
        return tuple(dict.fromkeys(found))


def _fits(theirs: Mapping[str, Scalar], own: Mapping[str, Scalar]) -> bool:
    """Tell whether two instances have the same value on each axis that both have."""
    return all(own[axis] == value for axis, value in theirs.items() if axis in own)


def share_of(launcher: Launcher) -> Share:
    """Return what of a machine a run of a launcher takes; one core where nothing is declared."""
    declared = launcher.resources
    if declared is None:
        return Share()
    return Share(
        cpu=declared.cpu or 1.0,
        memory=size_in_bytes(declared.memory),
        gpu=declared.gpu or 0,
        disk=size_in_bytes(declared.disk),
    )


def size_in_bytes(size: int | str | None) -> int:
    """Return a size of the manifest, such as ``8 GiB``, in bytes; 0 for none."""
    if size is None or isinstance(size, int):
        return size or 0
    number = size.rstrip("BkKMGTi ")
    unit = size[len(number) :].strip()
    return int(convert(Decimal(number), unit, "B"))


def split_parameters(
    artifact: Artifact, order: Sequence[str], parameters: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Give each parameter to the launchers that declare it.

    Raises:
        UsageError: None of them does.
    """
    given: dict[str, dict[str, str]] = {}
    launchers = artifact.manifest.launchers
    for key, value in parameters.items():
        takers = [name for name in order if key in launchers[name].parameters]
        if not takers:
            raise _unknown(key, {p for name in order for p in launchers[name].parameters})
        for name in takers:
            given.setdefault(name, {})[key] = value
    return given


def _unknown(key: str, known: Iterable[str]) -> UsageError:
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"parameters: {', '.join(names) or 'none'}"
    return UsageError(f"no launcher of this run has a parameter {key!r}", hint=hint)
