"""Values of a document with their places in the text."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal


@dataclasses.dataclass(slots=True, eq=False)
class Node:
    """A key or value of a document.

    Attributes:
        kind: What is written there.
        start: Offset of its first character, anchor and tag included.
        end: Offset behind its last character; of a collection in block style, behind the last
            character of its last entry; of a block scalar, behind its last line break.
        line: Line of its first character, 1-based.
        column: Column of its first character, 1-based.
        value: Plain data; of an alias, that of its target.
        style: A quote, ``|`` or ``>`` of a scalar, ``{`` or ``[`` of a collection in flow
            style, ``pair`` of the map that is written ``[key: value]``, else nothing.
        bare: Whether nothing stands in front of it: no anchor and no tag.
        anchor: Its anchor, or nothing.
        keys: Keys of a map, in the order of the text.
        values: Values of a map or list.
        target: What an alias stands for.
        size: How many keys and values it holds with itself, aliases counted in full.
        height: How many collections it nests, itself counted, aliases counted in full.
    """

    kind: Literal["map", "list", "scalar", "alias"]
    start: int
    end: int
    line: int
    column: int
    value: Any = None
    style: str = ""
    bare: bool = True
    anchor: str = ""
    keys: list[Node] = dataclasses.field(default_factory=list)
    values: list[Node] = dataclasses.field(default_factory=list)
    target: Node | None = None
    size: int = 1
    height: int = 0

    @property
    def flow(self) -> bool:
        """Whether it is a collection in flow style, with braces or brackets."""
        return self.style in {"{", "["}

    @property
    def empty(self) -> bool:
        """Whether nothing is written where it stands."""
        return self.kind == "scalar" and self.start == self.end

    def resolved(self) -> Node:
        """Return the node that holds the content: the target of an alias, else itself."""
        return self.target if self.target is not None else self
