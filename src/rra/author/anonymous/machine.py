"""What this machine knows of whoever packs: looked for in the files, never replaced."""

from __future__ import annotations

import dataclasses
import os
import platform
import pwd
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rra._base import process
from rra.author.anonymous import people
from rra.author.anonymous.identifier import Identifier, Kind, fold
from rra.author.anonymous.identity import commit, repository
from rra.author.anonymous.people import Words

_COMMITS = "1000"
_MOST_AUTHORS = 50
_SAFELY = ("-c", "safe.directory=*", "-c", "core.fsmonitor=false")
_SYSTEM_FOLDERS = {"root", "home", "usr", "var", "tmp", "opt", "srv", "mnt", "data", "nonexistent"}


def machine_identifiers(
    root: Path, known: Iterable[Identifier], keep: Iterable[str] = ()
) -> list[Identifier]:
    """Return what this machine knows and the files do not say.

    Args:
        root: Directory of the artifact.
        known: What is known from the files.
        keep: Texts that identify nobody, whatever they look like.
    """
    seen = {fold(one.text) for one in known} | {fold(text).strip() for text in keep}
    found: list[Identifier] = []
    for one in _all(root, Words()):
        if fold(one.text) not in seen:
            seen.add(fold(one.text))
            found.append(dataclasses.replace(one, replaced=False))
    return found


def _all(root: Path, words: Words) -> Iterator[Identifier]:
    for user in _users():
        yield from people.account(user, words, "user name on this machine")
    yield from people.host(platform.node(), "name of this machine")
    for folder in (Path.home(), root):
        if len(folder.parts) > 2 and not set(folder.parts[1:]) <= _SYSTEM_FOLDERS:
            yield Identifier(str(folder), Kind.FOLDER, "", "folder on this machine")
    yield from _git(root, words)


def _users() -> Iterator[str]:
    try:
        yield pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run under a number without a name
        return


_SERVICE = re.compile(r"noreply@github\.com|.*\[bot\]@users\.noreply\.github\.com")
"""Addresses under which the hosting service itself commits: merges in the browser, and bots."""


def _git(root: Path, words: Words) -> Iterator[Identifier]:
    git = process.find_tool("git")
    if git is None:
        return
    for key in ("user.name", "user.email"):
        value = _ask(git, root, "config", "--get", key)
        if value and "@" in value:
            yield from people.email(value, words, "configuration of git")
        elif value:
            yield from people.person(value, words, "configuration of git")
    if not (root / ".git").exists():
        return
    if head := _ask(git, root, "rev-parse", "HEAD"):
        yield commit(head, "commit of this repository")
    for line in _ask(git, root, "config", "--get-regexp", r"^remote\..*\.url$").splitlines():
        yield from repository(line.partition(" ")[2], words, "remote of git")
    log = _ask(git, root, "log", "-n", _COMMITS, "--format=%an%x00%ae%n%cn%x00%ce")
    for line in list(dict.fromkeys(log.splitlines()))[:_MOST_AUTHORS]:
        name, _, address = line.partition("\0")
        if _SERVICE.fullmatch(address):
            continue
        yield from people.person(name, words, "history of git")
        yield from people.email(address, words, "history of git")


def _ask(git: Path, root: Path, *argv: str) -> str:
    done = process.run([git, *_SAFELY, *argv], cwd=root)
    return done.stdout.strip() if done.ok else ""
