"""What watches a Python program from inside: copied as ``sitecustomize`` beside a run.

The recorder writes this file, with its settings filled in, into a private folder that comes
first on ``PYTHONPATH``. It sees seeds being set and, where nothing better records, files
opened, programs started and connections tried (audit hooks, PEP 578); each is appended to a
file as a line ``kind<TAB>value``. It never raises, takes itself out of ``sys.path``, and hands
on to a ``sitecustomize`` that was there before.

It runs in the environment of the artifact: syntax and modules are those of Python 3.7, and
nothing is imported that a starting interpreter has not loaded already.
"""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False  # typing would be loaded into every program that is watched
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The recorder replaces the next three lines.
EVENTS = ""
ROOTS: list[str] = []
HOOK = False

MOST_EVENTS = 50_000
"""Lines that one process writes at most."""

# A link that the launcher puts there leads nowhere.
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_KEEPING = os.O_RDWR | os.O_APPEND
_seen: set[bytes] = set()
_busy: set[int] = set()
_SEEDERS = {
    "random": ("seed",),
    "numpy.random": ("seed", "default_rng"),
    "torch": ("manual_seed",),
}


def emit(kind: str, value: str) -> None:
    """Append one event, the same one only once.

    Failures are kept from the program that is watched: what it has done to its file system or
    its limits must not make it fail here.
    """
    me = _thread.get_ident()
    if me in _busy or len(_seen) >= MOST_EVENTS:
        return
    _busy.add(me)
    try:
        line = kind.encode() + b"\t" + value.encode("unicode_escape") + b"\n"
        if line not in _seen:
            _seen.add(line)
            handle = os.open(EVENTS, _APPEND, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
    except Exception:  # noqa: BLE001, S110 - see above
        pass
    finally:
        _busy.discard(me)


def audit(event: str, args: tuple[Any, ...]) -> None:
    """Take the audit events that the record needs and leave the others alone."""
    taker = _TAKERS.get(event)
    if taker is None or _thread.get_ident() in _busy:
        return
    try:  # noqa: SIM105 - contextlib is not loaded yet
        taker(args)
    except Exception:  # noqa: BLE001, S110 - to watch must not change what is watched
        pass


def _path(path: Any, folder: Any = -1) -> str | None:
    """Return an absolute path, or None for a descriptor or what is relative to one."""
    if isinstance(path, int) or path is None:
        return None
    text = os.fsdecode(path)
    if folder not in {-1, None} and not text.startswith("/"):
        return None
    return os.path.abspath(text)  # noqa: PTH100 - pathlib is not loaded yet


def _opened(args: tuple[Any, ...]) -> None:
    place = _path(args[0])
    if place is None:
        return
    writing = args[2] & _WRITING
    reading = not writing or (args[2] & _KEEPING and not args[2] & os.O_TRUNC)
    if reading and any(place.startswith(root) for root in ROOTS):
        emit("read", place)
    if writing:
        emit("write", place)


def _written(path: Any, folder: Any = -1) -> None:
    place = _path(path, folder)
    if place is not None:
        emit("write", place)


def _moved(args: tuple[Any, ...]) -> None:
    _written(args[0], *args[2:3])
    _written(args[1], *args[3:4])


def _database(args: tuple[Any, ...]) -> None:
    """Take a database of sqlite3, which native code opens; one that is only read is not known."""
    name = os.fsdecode(args[0])
    if name and not name.startswith((":memory:", "file:")):
        place = os.path.abspath(name)  # noqa: PTH100 - as above
        if any(place.startswith(root) for root in ROOTS):
            emit("read", place)
        emit("write", place)


def _connected(args: tuple[Any, ...]) -> None:
    if isinstance(args[1], tuple):
        emit("connect", "%s:%s" % args[1][:2])  # noqa: UP031 - IPv6 has four parts


def _looked_up(args: tuple[Any, ...]) -> None:
    if args[0]:
        emit("connect", f"{os.fsdecode(args[0])}:{args[1] or 0}")


def _started(args: tuple[Any, ...]) -> None:
    program = args[0]
    if program is None:
        program = args[1] if isinstance(args[1], (str, bytes)) else args[1][0]
    emit("exec", os.fsdecode(program))


_TAKERS: dict[str, Callable[[tuple[Any, ...]], None]] = {
    "open": _opened,
    "os.mkdir": lambda args: _written(args[0], args[2]),
    "os.remove": lambda args: _written(*args),
    "os.rmdir": lambda args: _written(*args),
    "os.rename": _moved,
    "os.link": lambda args: _written(args[1], args[-1]),
    "os.symlink": lambda args: _written(args[1], args[-1]),
    "os.truncate": lambda args: _written(args[0]),
    "os.exec": _started,
    "os.posix_spawn": _started,
    "os.system": lambda args: emit("exec", "/bin/sh"),  # noqa: ARG005 - as the others
    "sqlite3.connect": _database,
    "subprocess.Popen": _started,
    "socket.connect": _connected,
    "socket.getaddrinfo": _looked_up,
}


def watch_seeds(module: Any, names: tuple[str, ...]) -> None:
    """Replace the seeding functions of a module by ones that also write the seed down."""
    for name in names:
        original = getattr(module, name, None)
        if callable(original):
            setattr(module, name, _observed(original))


def _observed(original: Callable[..., Any]) -> Callable[..., Any]:
    def seeding(*args: Any, **kwargs: Any) -> Any:
        for value in (*args[:1], *kwargs.values()):
            _note_seed(value)
        return original(*args, **kwargs)

    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        value = getattr(original, attribute, None)
        if value is not None:
            setattr(seeding, attribute, value)
    seeding.__wrapped__ = original  # type: ignore[attr-defined]
    return seeding


def _note_seed(value: Any) -> None:
    if isinstance(value, bool):
        return
    try:  # an array has __index__ too, and refuses
        number = value.__index__()
    except Exception:  # noqa: BLE001 - whatever a seed may be, to watch must not change it
        return
    emit("seed", str(int(number)))


class SeedFinder:
    """Finds no module itself; has the modules that set seeds watched once they are loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec that the other finders give, its module watched after loading."""
        if name not in _SEEDERS:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    _watch_after_loading(spec, _SEEDERS[name])
                    return spec
        return None


def _watch_after_loading(spec: Any, names: tuple[str, ...]) -> None:
    original = getattr(spec.loader, "exec_module", None)
    if original is None:
        return

    def exec_module(module: Any) -> None:
        original(module)
        watch_seeds(module, names)

    try:
        spec.loader.exec_module = exec_module
    except (AttributeError, TypeError):
        emit("gap", f"seeds of {spec.name} are not seen")


def _hand_on() -> None:
    """Give way to the ``sitecustomize`` that would have been loaded without this one."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as above
    sys.path[:] = [place for place in sys.path if place != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


def install() -> None:
    """Begin to watch this interpreter."""
    emit("python", sys.version.split()[0])
    finder: Any = SeedFinder()
    sys.meta_path.insert(0, finder)
    for name, functions in _SEEDERS.items():
        if name in sys.modules:
            watch_seeds(sys.modules[name], functions)
    if HOOK and hasattr(sys, "addaudithook"):
        sys.addaudithook(audit)


if __name__ == "sitecustomize":
    install()
    _hand_on()
