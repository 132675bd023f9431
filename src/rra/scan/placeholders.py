"""Words of a documented command that a reader has to replace."""

from __future__ import annotations

import re
from collections.abc import Collection

_MARKED = re.compile(
    r"<[A-Za-z_][^<>]*>|(?<!\S)\[[A-Za-z_-][\w .|=-]*\]|(?<!\$)\{[A-Z_][A-Z_ |,]*\}(?!\d)|"
    r"\b(?:PATH_TO|YOUR)_\w+|(?<!\S)\.\.\.(?!\S)|/?path/to/\S*|…"
)
_BRACED = re.compile(r"(?<![$@])\{[A-Za-z_][\w-]*(?: [\w-]+)*(?:\|[\w -]+)*\}(?!\d)")
_REPLACED = re.compile(r"(?<!\S)(?:-I|-i|--replace=)\s*(\{[\w-]+\})")
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_ECHOED = re.compile(
    r"""(?:^|[|;&(]\s*)(?:echo|printf)\s(?:'[^']*'|"(?:\\.|[^"\\])*"|[^'"|;&])*""", re.DOTALL
)
_TAG = re.compile(r"<(?!your|my|path)[A-Za-z_][\w-]*>", re.IGNORECASE)
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
    text: str,
    words: Collection[str],
    known: Collection[str],
    variables: Collection[str],
    *,
    filled: bool = False,
) -> tuple[str, ...]:
    """Return the words to be replaced, in order.

    Args:
        text: The command as written.
        words: Its words.
        known: Words that are files or folders of the repository.
        variables: Shell variables that the document sets.
        filled: Whether it is a program that puts values into the ``{name}`` of this file.
    """
    # `{a,b}` means both words to a shell; only `{name}` and `{A|B}` ask for one, outside quotes.
    bare = re.sub(r"'[^']*'", "", text)
    there = [word for word in words if word in known]
    marked = [
        m
        for m in _MARKED.finditer(text)
        if not (m[0].startswith("{") and (m[0] not in bare or "," in m[0]))
        and not _is_markup(m, text)
    ]
    marked += [] if filled else _braced(text)
    found = [
        m[0]
        for m in sorted(marked, key=lambda m: m.start())
        if not any(m[0] in word for word in there)
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


def _braced(text: str) -> list[re.Match[str]]:
    """Return each ``{name}`` outside quotes but those that ``xargs -I {name}`` fills."""
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    own = set(_REPLACED.findall(text))
    return [
        m
        for m in _BRACED.finditer(text)
        if m[0] not in own and not any(start <= m.start() < end for start, end in quoted)
    ]


def _is_markup(found: re.Match[str], text: str) -> bool:
    """Tell whether ``<name>`` in quotes is text: closed again, or one word of an ``echo``."""
    quoted = next((m for m in _QUOTED.finditer(text) if m.start() < found.start() < m.end()), None)
    if quoted is None or not _TAG.fullmatch(found[0]):
        return False
    if f"</{found[0][1:]}" in quoted[0]:
        return True
    alone = quoted[0][1:-1].strip() == found[0] or text[found.start() - 1] == "="
    return not alone and any(m.start() < found.start() < m.end() for m in _ECHOED.finditer(text))
