"""What archives hold, as far as it is read: order, folders, collisions, links."""

from __future__ import annotations

import dataclasses
from pathlib import PurePosixPath

from rra.bundle.bytesource import HINT
from rra.bundle.canonical import FILE, FOLDER
from rra.bundle.limits import Limits
from rra.bundle.names import check_links, fold
from rra.bundle.tarparser import Member, refused, shown, unsafe
from rra.errors import ArchiveError


@dataclasses.dataclass(slots=True)
class Taken:
    """The names that are taken in one place, by whatever archive.

    Attributes:
        names: Each path by what it has in common with those it collides with.
        folders: Those that are folders, which archives may share.
        names_bytes: Length of all paths and link targets.
    """

    names: dict[str, str] = dataclasses.field(default_factory=dict)
    folders: set[str] = dataclasses.field(default_factory=set)
    names_bytes: int = 0

    def add(self, path: PurePosixPath, length: int, limits: Limits, *, folder: bool) -> None:
        """Take a name.

        Args:
            path: The member's path.
            length: Bytes of its path and target.
            limits: Bounds over all names of the place.
            folder: Whether it is a folder.

        Raises:
            UnsafePathError: Another member has that name, or one that differs in case only.
            ArchiveError: There are more names than allowed.
        """
        text = str(path)
        key = fold(text)
        if (other := self.names.get(key)) is not None:
            if other != text:
                raise unsafe(path, f"differs from {shown(other)} in case only")
            if folder and text in self.folders:
                return
            raise unsafe(path, "another archive of the bundle has something of that name")
        # Most names fold to themselves: one text for both.
        self.names[text if key == text else key] = text
        if folder:
            self.folders.add(text)
        self.names_bytes += length
        if len(self.names) > limits.members:
            message = f"more than the {limits.members:,} members that are allowed"
            raise ArchiveError(message, hint=HINT)
        if self.names_bytes > limits.names_bytes:
            message = f"names of more than the {limits.names_bytes:,} bytes that are allowed"
            raise ArchiveError(message, hint=HINT)


class MemberTable:
    """The members of one archive in their order."""

    def __init__(self, taken: Taken, limits: Limits) -> None:
        """Start with an archive of which nothing is read yet."""
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.links: dict[PurePosixPath, bytes] = {}
        self._taken = taken
        self._limits = limits
        self._hollow: set[str] = set()
        self._last = b""

    def add(self, member: Member) -> None:
        """Take up the next member.

        Raises:
            UnsafePathError: It lies below a link, or its name is taken.
            ArchiveError: Its folder is missing, or it is out of order, twice, or one too many.
        """
        self._check_parent(member.path)
        if member.name <= self._last:
            why = "is there twice" if member.name == self._last else "is out of order"
            raise refused(member.name, why)
        self._last = member.name
        length = len(member.name) + len(member.target)
        self._taken.add(member.path, length, self._limits, folder=member.kind == FOLDER)
        text = str(member.path)
        if member.kind == FOLDER:
            self.folders.add(text)
            self._hollow.add(text)
        elif member.kind == FILE:
            self.files.add(text)
        else:
            self.links[member.path] = member.target

    def close(self) -> None:
        """Check what can only be known at the end.

        Raises:
            UnsafePathError: A link does not lead to a file or folder of the same archive.
            ArchiveError: A folder holds nothing.
        """
        if self._hollow:
            raise refused(min(self._hollow), "is a folder that holds nothing")
        targets = {
            path: target.decode("utf-8", "surrogateescape") for path, target in self.links.items()
        }
        for problem in check_links(targets, self.files, self.folders):
            raise unsafe(problem.path, problem.message)

    def _check_parent(self, path: PurePosixPath) -> None:
        parent = str(path.parent)
        if parent in self.folders:
            self._hollow.discard(parent)
            return
        if not path.parent.parts:
            return
        for above in path.parents:
            if above in self.links:
                raise unsafe(path, f"lies below {shown(above)}, which is a link")
            if str(above) in self.files:
                raise refused(path, f"lies below {shown(above)}, which is a file")
        raise refused(path, f"its folder {shown(parent)} is not in the archive before it")
