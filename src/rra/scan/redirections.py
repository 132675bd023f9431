"""The files that a command line itself names: redirections, ``tee``, and arguments."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from rra.scan.filenames import names_a_file, normal_pattern
from rra.scan.objects import Command

_OUT = re.compile(r"^(?:[12]?>>?\|?|&>>?|>&)$")
_SPECIAL = re.compile(r"^(?:/dev/|&|-$|\d$)")
_SAVES: dict[str, tuple[str, ...]] = {
    "wget": ("-O", "--output-document"),
    "curl": ("-o", "--output"),
    "gdown": ("-O", "--output"),
    "aria2c": ("-o", "--out"),
    "axel": ("-o", "--output"),
}
_WRITTEN_FLAG = re.compile(
    r"^-{1,2}(?:o|out|output\w*|out[_-]\w+|output[_-]\w+|save\w*|save[_-]\w+|dest\w*|export\w*|"
    r"write\w*|log[_-]?file|result\w*|target[_-]file|to)$"
)
_PLAIN_FILE = re.compile(r"^[\w~./+@%=:,-]+$")


def command_files(command: Command, files: Collection[PurePosixPath]) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command names by itself, and whether it writes them.

    Args:
        command: The command.
        files: Files of the repository.
    """
    if command.kind not in {"run", "download", "install", "build", "other"}:
        return
    yield from ((name, True) for name in redirected(command.text))
    yield from ((name, True) for name in _saved(command.text))
    if command.kind == "run":
        yield from _arguments(command, files)


def redirected(text: str) -> Iterator[str]:
    """Yield the files that a line of a shell writes with ``>``, ``>>``, ``&>`` and ``| tee``.

    Args:
        text: The line.
    """
    words = _tokens(re.sub(r"<[A-Za-z][^<>]*>", "'<>'", text))
    for number, word in enumerate(words):
        behind = words[number + 1] if number + 1 < len(words) else ""
        if _OUT.match(word) and _is_file(behind):
            yield behind
        elif word == "tee" and number and words[number - 1] in {"|", "|&"}:
            yield from _tee(words[number + 1 :])


def _tee(words: list[str]) -> Iterator[str]:
    for word in words:
        if set(word) <= set("|&;<>()"):
            return
        if not word.startswith("-") and _is_file(word):
            yield word


def _is_file(word: str) -> bool:
    return bool(_PLAIN_FILE.match(word)) and not _SPECIAL.match(word) and word[0] != "-"


def _tokens(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return []


def _saved(text: str) -> Iterator[str]:
    """Yield the files that a download is saved as."""
    words = _tokens(text)
    programs = [word for word in words if word in _SAVES]
    if not programs:
        return
    flags = _SAVES[programs[0]]
    folder = ""
    named = False
    for flag, value in itertools.pairwise(words):
        if flag in flags and _is_file(value):
            named = True
            yield value
        elif flag in {"-P", "--directory-prefix", "-d", "--dir"}:
            folder = value.rstrip("/") + "/"
    remote = programs[0] == "wget" or (programs[0] == "curl" and {"-O", "-LO", "-OL"} & set(words))
    for word in words if remote and not named else ():
        name = re.match(r"https?://[^\s?#]+/([\w.%+-]+\.\w+)(?:[?#]|$)", word)
        if name:
            yield folder + name[1]


def argument_files(command: Command) -> Iterator[str]:
    """Yield the words of a command that may name files, without those it is told to write.

    Args:
        command: The command.
    """
    words = command.argv[-1].split() if command.shell and command.argv else command.argv
    before = ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        plain = value if equals else word
        owner = name if equals else before
        before = word if word.startswith("-") else ""
        told = word in command.placeholders or _WRITTEN_FLAG.match(owner)
        if not told and _PLAIN_FILE.match(plain) and plain[0] != "-" and re.search(r"[./]", plain):
            yield plain


def _arguments(command: Command, files: Collection[PurePosixPath]) -> Iterator[tuple[str, bool]]:
    """Yield the arguments that name files: written behind ``--out``, read otherwise."""
    words = command.argv[-1].split() if command.shell and command.argv else command.argv
    flag = ""
    for number, word in enumerate(words):
        if word in command.placeholders:
            continue
        name, equals, value = word.partition("=")
        plain = value if equals and word.startswith("-") else word
        before, flag = flag, "" if equals else (word if word.startswith("-") else "")
        owner = name if equals else before
        if not number or not _PLAIN_FILE.match(plain) or plain.startswith("-"):
            continue
        place = normal_pattern(plain, command.source, command.workdir)
        if place is None or PurePosixPath(place) == command.script:
            continue
        if _WRITTEN_FLAG.match(owner):
            if "." in PurePosixPath(plain).name or "/" in plain:
                yield plain, True
        elif PurePosixPath(place) in files or (names_a_file(plain) and "://" not in plain):
            yield plain, False
