"""The lines of a ``requirements.txt``, joined where they continue."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator


@dataclasses.dataclass(frozen=True, slots=True)
class RequirementLine:
    """One logical line of a requirements file.

    Attributes:
        text: The line with its continuations, without comments.
        offset: Where it starts in the file.
    """

    text: str
    offset: int

    @property
    def is_option(self) -> bool:
        """Whether it is an option of the installer, such as ``--index-url``."""
        return self.text.startswith("-")

    @property
    def name(self) -> str:
        """What is required: the text up to the version."""
        for index, character in enumerate(self.text):
            if character in " =<>!~;@[(":
                return self.text[:index]
        return self.text


def requirement_lines(text: str) -> Iterator[RequirementLine]:
    """Yield the logical lines of a requirements file (pip: Requirements File Format)."""
    offset = start = 0
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if not parts:
            start = offset
        offset += len(line)
        if bare.startswith("#"):
            continue
        content = bare.split(" #", 1)[0].strip()
        if content.endswith("\\"):
            parts.append(content[:-1].strip())
            continue
        parts.append(content)
        joined = " ".join(part for part in parts if part)
        parts = []
        if joined:
            yield RequirementLine(joined, start)
    joined = " ".join(part for part in parts if part)
    if joined:
        yield RequirementLine(joined, start)
