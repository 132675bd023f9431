"""Words of a documented command that a reader has to replace."""

from __future__ import annotations

import re
from collections.abc import Collection

_MARKED = re.compile(
    r"<[A-Za-z_][^<>]*>|(?<!\S)\[[A-Za-z_-][\w .|=-]*\]|\{[A-Z_][A-Z_ |,]*\}(?!\d)|"
    r"\b(?:PATH_TO|YOUR)_\w+|(?<!\S)\.\.\.(?!\S)|/?path/to/\S*|…"
)
_CAPITALS = re.compile(
    r"^(?=.*(?:PATH|DIR|NAME|DATASET|FILE|ROOT|FOLDER|KEY|TOKEN|CHECKPOINT|X{3,}))[A-Z][A-Z_-]+$"
)
_MANUAL = re.compile(r"^\w+_(?:file|filename|file_name)$")
_YOUR = re.compile(r"^your[-_]\w+(?:[-_]\w+)*$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\{([A-Z][A-Z0-9_]*)\}|([A-Z][A-Z0-9_]*))")
_ENVIRONMENT = frozenset(
    {"HOME", "PWD", "PATH", "USER", "TMPDIR", "PYTHONPATH", "CONDA_PREFIX", "VIRTUAL_ENV"}
    | {"CUDA_VISIBLE_DEVICES", "SHELL", "LD_LIBRARY_PATH", "HOSTNAME", "OLDPWD"}
)


def find_placeholders(
    text: str, words: Collection[str], known: Collection[str], variables: Collection[str]
) -> tuple[str, ...]:
    """Return the words to be replaced, in order.

    Args:
        text: The command as written.
        words: Its words.
        known: Words that are files or folders of the repository.
        variables: Shell variables that the document sets.
    """
    # `{a,b}` means both words to a shell; only `{name}` and `{A|B}` ask for one, outside quotes.
    bare = re.sub(r"'[^']*'", "", text)
    there = [word for word in words if word in known]
    found = [
        m[0]
        for m in _MARKED.finditer(text)
        if not any(m[0] in word for word in there)
        and not (m[0].startswith("{") and (m[0] not in bare or "," in m[0]))
    ]
    for word in words:
        plain = word.partition("=")[2] if word.startswith("-") and "=" in word else word
        if plain in known or (word.startswith("-") and "=" not in word):
            continue
        if _CAPITALS.match(plain) or _MANUAL.match(plain) or _YOUR.match(plain):
            found.append(plain)
    for match in _VARIABLE.finditer(bare):
        name = match[1] or match[2]
        if name not in variables and name not in _ENVIRONMENT and not name.startswith("SLURM_"):
            found.append(match[0])
    return tuple(dict.fromkeys(word for word in found if word))
