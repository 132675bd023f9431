"""The scanner of `ruamel.yaml`, with tabs and comments as YAML 1.2.2 has them.

Upstream takes a tab behind a value of a block for a fault, and ``"a"#b`` for a comment; other
readers do not. Everything else is upstream's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.scanner import Scanner, ScannerError

_ENDS = "\r\n\0"
_BLANK = re.compile(r"[ \t]*(?:#[^\r\n\0]*)?(?=[\r\n\0])")
_COMMENT = re.compile(r"#[^\r\n\0]*")
_SPACES = re.compile(" *")
_INDICATORS = "---", "..."


def parse_events(text: str) -> Iterator[events.Event]:
    """Cut a text into the events of YAML; raises what `ruamel.yaml` raises."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    return yaml.parse(text)  # type: ignore[no-any-return]


class _Scanner(Scanner):
    """Upstream's scanner; `reader.buffer` is the whole text, as it is given a `str`."""

    def scan_to_next_token(self) -> None:
        """Go over white space, comments and line ends."""
        reader = self.reader
        if reader.index == 0 and reader.peek() == "\ufeff":
            reader.forward()
        while True:
            self._jump(_SPACES)
            character = reader.peek()
            if character == "\t" and self._is_separation():
                reader.forward()
                continue
            if character == "#" and self._stands_alone():
                self._jump(_COMMENT)
            if not self.scan_line_break():
                return
            if not self.flow_context:
                self.allow_simple_key = True

    def _jump(self, pattern: re.Pattern[str]) -> None:
        """Go over what a pattern matches, which never holds a line end."""
        reader = self.reader
        found = pattern.match(reader.buffer, reader.pointer)
        length = found.end() - reader.pointer if found is not None else 0
        reader.pointer += length
        reader.index += length
        reader.column += length

    def _is_separation(self) -> bool:
        """Tell whether a tab stands where no indentation can be (YAML 1.2.2 §6.1, §6.2)."""
        if self.flow_context or not self.allow_simple_key:
            return True
        return _BLANK.match(self.reader.buffer, self.reader.pointer) is not None

    def _stands_alone(self) -> bool:
        """Tell whether a number sign begins a comment (YAML 1.2.2 §6.6)."""
        reader = self.reader
        return reader.pointer == 0 or reader.buffer[reader.pointer - 1] in " \t\r\n\ufeff"

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:
        """Return what white space inside a plain scalar stands for; None at a document mark."""
        del start_mark
        reader = self.reader
        length = 0
        while reader.peek(length) in " \t":
            length += 1
        blanks = reader.prefix(length)
        reader.forward(length)
        if reader.peek() not in "\r\n":
            return [blanks] if blanks else []
        self.scan_line_break()
        self.allow_simple_key = True
        breaks: list[str] = []
        while not self._at_document_mark():
            character = reader.peek()
            if character == " " or (character == "\t" and self._continues(indent)):
                reader.forward()
            elif character in "\r\n":
                breaks.append(self.scan_line_break())
            else:
                return breaks or [" "]
        return None

    def _continues(self, indent: int) -> bool:
        reader = self.reader
        return (
            bool(self.flow_context)
            or reader.column >= indent
            or _BLANK.match(reader.buffer, reader.pointer) is not None
        )

    def _at_document_mark(self) -> bool:
        reader = self.reader
        return (
            reader.column == 0 and reader.prefix(3) in _INDICATORS and reader.peek(3) in " \t\r\n\0"
        )

    def scan_flow_scalar(self, style: Any) -> Any:
        """Scan a scalar between quotes; an escape for no character is a fault of the text."""
        mark = self.reader.get_mark()
        try:
            return super().scan_flow_scalar(style)
        except (ValueError, OverflowError) as error:
            problem = "an escape names no character of Unicode"
            raise ScannerError(None, None, problem, mark) from error
