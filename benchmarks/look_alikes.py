"""Repositories kept as one text file each, so that nothing of this project formats what they hold.

A file starts behind a line ``==> path <==``; words behind the path say what text cannot show:
``0755`` its mode, ``crlf`` its line ends, ``latin-1`` or ``utf-16`` its encoding, ``raw`` that the
last line end is left out.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

_HEADER = re.compile(r"^==> (\S+)((?: [\w-]+)*) <==$")


def read_archive(text: str) -> dict[PurePosixPath, tuple[bytes, int]]:
    """Return the files of a repository with their modes.

    Raises:
        ValueError: A header names a path outside the repository, twice, or an unknown word.
    """
    files: dict[PurePosixPath, tuple[bytes, int]] = {}
    path: PurePosixPath | None = None
    words: list[str] = []
    lines: list[str] = []
    for line in [*text.split("\n"), "==> . <=="]:
        header = _HEADER.match(line)
        if header is None:
            lines.append(line)
            continue
        if path is not None:
            files[path] = _content(lines, words)
        path, words, lines = PurePosixPath(header[1]), header[2].split(), []
        if path.is_absolute() or ".." in path.parts or path in files:
            message = f"not a place for a file: {path}"
            raise ValueError(message)
    return files


def unpack(archive: Path, folder: Path) -> Path:
    """Write the files of an archive into a folder and return it."""
    for path, (content, mode) in read_archive(archive.read_text(encoding="utf-8")).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(mode)
    return folder


def _content(lines: list[str], words: list[str]) -> tuple[bytes, int]:
    """Put lines together; empty ones in front of the next header only part the two."""
    text = "\n".join(lines).rstrip("\n")
    mode, encoding = 0o644, "utf-8"
    text = text + "\n" if text and "raw" not in words else text
    for word in words:
        match word:
            case "crlf":
                text = text.replace("\n", "\r\n")
            case "0755" | "0644":
                mode = int(word, 8)
            case "latin-1" | "utf-16":
                encoding = word
            case "raw":
                pass
            case _:
                message = f"unknown word in a header: {word}"
                raise ValueError(message)
    return text.encode(encoding), mode
