"""Several transfers at once: four workers, one lock for each digest, and an end on the first fault.

A fault in one ends the others at their next block, and is what is raised; so does an
interrupt of the thread that waits.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")

TRANSFERS = 4
"""Transfers at once: more of them make no large registry faster, and annoy small ones."""


class StoppedError(Exception):
    """This transfer ends because another one failed; never leaves this package."""


class Stop:
    """Tells transfers that they are not wanted any more."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._ends: dict[object, Callable[[], None]] = {}

    def now(self) -> None:
        """End every transfer at its next block, also one that waits for it."""
        self._event.set()
        for end in list(self._ends.values()):
            end()

    @contextlib.contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Have something called when it is time to stop, while the block runs."""
        key = object()
        self._ends[key] = end
        try:
            self.check()
            yield
        finally:
            del self._ends[key]

    def check(self) -> None:
        """Go on, or not.

        Raises:
            StoppedError: The transfer is not wanted any more.
        """
        if self._event.is_set():
            raise StoppedError


class DigestLocks:
    """One lock for each digest, so that no blob is on its way twice."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    @contextlib.contextmanager
    def holding(self, digest: str) -> Iterator[None]:
        """Keep others away from a digest."""
        with self._guard:
            lock = self._locks.setdefault(digest, threading.Lock())
        with lock:
            yield


@contextlib.contextmanager
def workers(stop: Stop) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of `TRANSFERS` threads, all of which have ended when the block has.

    When the block raises, what they do is stopped first.
    """
    pool = ThreadPoolExecutor(TRANSFERS, thread_name_prefix="rra-transfer")
    try:
        yield pool
    except BaseException:
        stop.now()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def run_all(calls: Iterable[Callable[[], Result]], stop: Stop) -> list[Result]:
    """Call all, four at a time, and return their results in order.

    Raises:
        Exception: The first fault of any; the others were stopped.
    """
    with workers(stop) as pool:
        futures = [pool.submit(call) for call in calls]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            stop.now()
            for future in futures:
                future.cancel()
            wait(futures)
            raise first_fault(futures)
        return [future.result() for future in futures]


def first_fault(futures: list[Future[Result]]) -> BaseException:
    """Return the fault that counts: not one of those that only stopped because of it.

    Args:
        futures: All of the transfers, which have ended.
    """
    faults = [
        error
        for future in futures
        if not future.cancelled() and (error := future.exception()) is not None
    ]
    real = [error for error in faults if not isinstance(error, StoppedError)]
    return (real or faults)[0]
