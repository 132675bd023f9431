"""One process at a time runs a task: who comes second waits, and finds the outputs in place.

A claim is a lock on a small file beside the outputs, for the task and the key that decides what it
does. The lock goes with the process. On a file system that other machines see it holds there as
well, where the file system passes locks on; where it does not, both run, and both are recorded.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rra._base import canonical, clock
from rra._base.files import storage_errors
from rra._base.owners import this_process
from rra.launch.tasks import Task

FOLDER = ".rra-claims"

_PAUSE = 0.1
_LONGEST = 1 << 14
_KEY = len("sha256:") + 16
_STALE_SECONDS = 7 * 86_400.0


@contextlib.contextmanager
def claimed(
    outputs_root: Path,
    task: Task,
    *,
    plan: Path,
    progress: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> Iterator[bool]:
    """Hold a task, so that no other process runs it; wait while one does.

    Args:
        outputs_root: Where outputs are published.
        task: The task.
        plan: File of the plan that it belongs to, as it was written.
        progress: Told when there is something to wait for.
        cancelled: Asked while it waits; true ends the waiting.

    Yields:
        Whether somebody had it for another plan since this one was made, so that it may be up to
        date by now.

    Raises:
        StorageError: The folder cannot be written.
    """
    folder = outputs_root / FOLDER
    path = folder / f"{task.file_stem}-{task.key[len('sha256:') : _KEY]}"
    with storage_errors(path):
        folder.mkdir(parents=True, exist_ok=True)
        file = _opened(path)
    try:
        waited = _wait(file, task, progress, cancelled)
        said = _said(file)
        later = plan.exists() and os.fstat(file).st_mtime_ns >= plan.stat().st_mtime_ns
        with storage_errors(path):
            text = canonical.dumps({**this_process().to_json(), "plan": str(plan)}) + b"\n"
            os.pwrite(file, text, 0)
            os.ftruncate(file, len(text))
        yield waited or (later and said.get("plan", str(plan)) != str(plan))
    finally:
        with contextlib.suppress(OSError):
            os.utime(file)  # when it was given back
        os.close(file)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _wait(
    file: int, task: Task, progress: Callable[[str], None], cancelled: Callable[[], bool]
) -> bool:
    """Take the lock; tell whether somebody else had it."""
    waited = False
    while not cancelled():
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not waited:
                progress(f"{task.id}: {_holder(file)} runs it just now; waiting for that")
            waited = True
            clock.sleep(_PAUSE)
        except OSError:  # no locks here: both run it
            return waited
        else:
            return waited
    return waited


def _holder(file: int) -> str:
    said = _said(file)
    who = f" (process {said['pid']} on {said['host']})" if {"pid", "host"} <= said.keys() else ""
    return f"another rra{who}"


def _said(file: int) -> dict[str, Any]:
    """Return what whoever had the claim last wrote into it, as far as it can be read."""
    with contextlib.suppress(OSError, ValueError):
        said = json.loads(os.pread(file, _LONGEST, 0))
        return said if isinstance(said, dict) else {}
    return {}


def forget_old(outputs_root: Path) -> None:
    """Remove the files of claims that nobody has held for a week."""
    oldest = clock.now().timestamp() - _STALE_SECONDS
    for path in (outputs_root / FOLDER).glob("*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                file = _opened(path)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                finally:
                    os.close(file)
