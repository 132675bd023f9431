"""Numbers of interest in ``rra.yaml``: what launchers are given, and what is reported."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Any

from rra.artifact import Artifact
from rra.audit.forms import Spot
from rra.audit.wanted import Wanted
from rra.values.tokens import NumberToken, number_tokens

_SEARCHED = (
    "launchers/*/parameters/*/default",
    "launchers/*/variables/*",
    "environments/*/variables/*",
    "experiments/*/outcomes/*/reported",
    "experiments/*/outcomes/*/deviation/observed",
    "experiments/*/table/cells/*/deviation/observed",
)


def manifest_spots(artifact: Artifact, wanted: Sequence[Wanted]) -> list[Spot]:
    """Find the numbers of the manifest that a launcher can have its result from.

    Selectors, tolerances and the rest decide how a result is read and are never suspects.
    """
    text = artifact.document.text
    tokens = number_tokens(text)
    starts = [0]
    starts += [index + 1 for index, character in enumerate(text) if character == "\n"]
    spots: dict[int, Spot] = {}
    for path, value in _values(artifact.document.data, ()):
        if not any(fnmatch.fnmatchcase("/".join(path), pattern) for pattern in _SEARCHED):
            continue
        line, column = artifact.document.position(path)
        for own in number_tokens(str(value)):
            if any(item.scale_of(own.value) for item in wanted):
                found = _behind(tokens, starts[line - 1] + column - 1, own.text)
                if found is not None:
                    spots[found.start] = _spot(text, found, artifact)
    return [spots[start] for start in sorted(spots)]


def _values(data: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _values(value, (*path, str(key)))
    elif isinstance(data, str | int | float):
        yield path, data


def _behind(tokens: Sequence[NumberToken], start: int, text: str) -> NumberToken | None:
    return next((token for token in tokens if token.start >= start and token.text == text), None)


def _spot(text: str, token: NumberToken, artifact: Artifact) -> Spot:
    raw = (artifact.root / "rra.yaml").read_bytes()
    before = len(raw) - len(raw.removeprefix(b"\xef\xbb\xbf"))
    start = before + len(text[: token.start].encode())
    end = start + len(token.text.encode())
    line = text.count("\n", 0, token.start) + 1
    return Spot(start, end, "utf-8", token.text, token.value, line)
