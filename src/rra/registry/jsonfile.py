"""JSON files that other programs read and change too: what else is in them stays.

A change is made under a lock, against the bytes that were read, and put in place by a rename;
a link stays a link, and what it leads to is replaced.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from rra._base import clock
from rra._base.files import atomic_write, storage_errors
from rra.errors import StorageError, UsageError

_TRIES = 500
_PAUSE = 0.02
_CHANGES = 20
_INDENT = re.compile(r"\{\r?\n([ \t]+)\S")

Document = dict[str, Any]


def read_object(path: Path, what: str) -> Document | None:
    """Return the object in a file; None where there is no file.

    Args:
        path: The file.
        what: What messages call it.

    Raises:
        UsageError: It cannot be read, or holds something else; nothing of it is shown.
    """
    data = _bytes(path, what)
    return None if data is None else _parsed(data, path, what, strict=False)


def change_object(path: Path, what: str, change: Callable[[Document], None]) -> None:
    """Change the object in a file, which is made when it is missing; nobody else can read it.

    Args:
        path: The file, or a link to it.
        what: What messages call it.
        change: Changes the object; called again when the file changed meanwhile.

    Raises:
        UsageError: The file cannot be read, or holds something that writing would lose.
        StorageError: It cannot be written, or is busy; it is as it was.
    """
    target = Path(os.path.realpath(path))
    with storage_errors(target):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(target.parent):
        for _ in range(_CHANGES):
            before = _bytes(target, what)
            document = {} if before is None else _parsed(before, path, what, strict=True)
            changed = copy.deepcopy(document)
            change(changed)
            if changed == document:
                return
            text = _text(changed, before)
            if _bytes(target, what) == before:
                _write(target, text)
                return
    message = f"{path} is changed by another program all the time"
    raise StorageError(message, hint="end that program and run the same command again")


def _write(target: Path, text: bytes) -> None:
    """Put the new content in place, for its owner only."""
    try:
        status = target.stat()
    except FileNotFoundError:
        atomic_write(target, text, mode=0o600)
        return
    if not status.st_mode & stat.S_IWUSR:
        message = f"{target} is read-only"
        hint = f"chmod u+w {target}, or name another file with REGISTRY_AUTH_FILE"
        raise StorageError(message, hint=hint)
    mine = status.st_uid == os.geteuid()
    owner = None if mine else (status.st_uid, status.st_gid)
    atomic_write(target, text, mode=0o600, owner=owner)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other changes of ours out of a folder; nothing is left there.

    Where the file system knows no locks, the comparison before writing has to do.
    """
    with storage_errors(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for _ in range(_TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                clock.sleep(_PAUSE)
                continue
            except OSError:
                pass
            yield
            return
        message = f"another program has locked {folder} for {_TRIES * _PAUSE:g} s"
        raise StorageError(message, hint="end it and run the same command again")
    finally:
        os.close(handle)


def _bytes(path: Path, what: str) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, what, error.strerror or type(error).__name__) from error


def _parsed(data: bytes, path: Path, what: str, *, strict: bool) -> Document:
    """Parse the object; strictly, nothing may be there that writing would lose."""
    hooks: dict[str, Any] = {}
    if strict:
        hooks = {"object_pairs_hook": _no_key_twice, "parse_constant": _no_constant}
    try:
        document = json.loads(data, **hooks)
    except json.JSONDecodeError as error:
        raise _unreadable(path, what, f"no JSON, line {error.lineno}") from None
    except _LostError as error:
        raise _unreadable(path, what, str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, what, f"no JSON ({type(error).__name__})") from None
    if not isinstance(document, dict):
        raise _unreadable(path, what, "not a JSON object")
    return document


class _LostError(Exception):
    """The file holds what would be lost when it is written again."""


def _no_key_twice(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _LostError("the same key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _LostError(f"a number that is no JSON, {name}")


def _unreadable(path: Path, what: str, why: str) -> UsageError:
    message = f"the {what} {path} cannot be read: {why}"
    return UsageError(message, hint="correct it, or move it away")


def _text(document: Document, before: bytes | None) -> bytes:
    """Write an object with the indentation that it had; docker's own is a tab."""
    found = _INDENT.match((before or b"").decode("utf-8", "replace").lstrip("\ufeff \r\n\t"))
    indent = found[1] if found else "\t"
    try:
        return (json.dumps(document, indent=indent, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half of a pair (\ud800), which only an escape can hold
        return (json.dumps(document, indent=indent) + "\n").encode()
