"""MLflow file stores (``mlruns``): the recorded values of one metric of one run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base.files import safe_join, walk_files
from rra.errors import SelectError
from rra.values.readers.candidate import MAX_CANDIDATES, Candidate, nearest, read_text, too_many

_METRICS = "metrics"
_RUN_NAME = Path("tags") / "mlflow.runName"


def read_mlflow(path: Path, locator: dict[str, Any]) -> list[Candidate]:
    """Return every recorded value of a metric, with the digits of the file, labelled by ``step``.

    Args:
        path: Folder of a file store, ``mlruns`` in MLflow's words.
        locator: ``{metric: name, run: id or name}``; `run` may be left out where there is one.

    Raises:
        SelectError: It is no file store, the run or metric is missing, or several runs fit.
        UnsafePathError: The metric's name leads out of its folder.
    """
    run = _run(path, locator.get("run"))
    metric = str(locator["metric"])
    folder = run / _METRICS
    file = safe_join(folder, metric)
    if not file.is_file():
        known = [str(one) for one in walk_files(folder)]
        raise SelectError(f"run {run.name} has no metric {metric!r}", hint=nearest(metric, known))
    inside = file.relative_to(path).as_posix()
    found = list(_values(file, metric, inside))
    if not found:
        raise SelectError(f"{inside} is empty", hint="check that the run recorded the metric")
    return found


def _run(path: Path, wanted: str | None) -> Path:
    """Return the folder of the one run that is meant."""
    if not path.is_dir():
        raise SelectError(f"{path.name} is no folder of an MLflow file store")
    runs = sorted(one.parent for one in path.glob(f"*/*/{_METRICS}") if one.is_dir())
    if not runs:
        raise SelectError(
            f"{path.name} holds no runs with metrics",
            hint="name the folder that MLflow calls mlruns, and let the run write into it",
        )
    names = {run: _name(run) for run in runs}
    fitting = [run for run in runs if wanted is None or wanted in {run.name, names[run]}]
    shown = [f"{run.name} ({names[run]})" if names[run] else run.name for run in runs]
    if not fitting:
        raise SelectError(f"{path.name} has no run {wanted!r}", hint=nearest(str(wanted), shown))
    if len(fitting) > 1:
        which = f"are called {wanted!r}" if wanted else "are in it, and the selector names none"
        raise SelectError(
            f"{path.name}: {len(fitting)} runs {which}",
            hint=f"name one by its id in `run`; {nearest('', shown)}",
        )
    return fitting[0]


def _name(run: Path) -> str:
    file = run / _RUN_NAME
    return read_text(file).strip() if file.is_file() else ""


def _values(file: Path, metric: str, inside: str) -> Iterator[Candidate]:
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) < 2:
            raise SelectError(f"{inside}:{number} is not `time value step`: {line[:60]!r}")
        if number > MAX_CANDIDATES:
            raise too_many(inside)
        step = parts[2] if len(parts) > 2 else "0"
        place = f"{metric} at step {step}"
        yield Candidate(parts[1], place, number, {"step": step}, "number", inside)
