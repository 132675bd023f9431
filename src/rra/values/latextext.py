r"""LaTeX as plain text: comments, groups, macros without arguments, the content of a cell."""

from __future__ import annotations

import re

MAX_CELL = 4000
"""Longest content of a cell or caption that is turned into text."""

_MAX_GROUP = 20_000
_MAX_MACRO = 200
_COMMENT = re.compile(r"(\\.)|%[^\n]*", re.DOTALL)
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|Verbatim|lstlisting|comment|minted)\}.*?(?:\\end\{\1\}|\Z)", re.DOTALL
)
_MACRO = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?\s*\{?\s*\\(?P<new>[A-Za-z]+)\s*\}?"
    r"|def\s*\\(?P<old>[A-Za-z]+))\s*(?=\{)"
)
_USE = re.compile(r"\\([A-Za-z]+)(?:\s*\{\}|\s+(?=\S)|)")
_COMMAND = re.compile(r"\\(?:(?P<word>[A-Za-z@]+)\*?|(?P<sign>.))", re.DOTALL)
_SIGNS = {
    **dict.fromkeys(("pm", "textpm", "mp"), " ± "),
    **dict.fromkeys(("times", "cdot"), "×"),
    **dict.fromkeys(("quad", "qquad", "enspace", "newline", "linebreak", "tabularnewline"), " "),
    **dict.fromkeys(("dagger", "dag"), "†"),
    **dict.fromkeys(("ddagger", "ddag"), "‡"),
    **dict.fromkeys(("minus", "textminus"), "-"),
    "percent": "%",
    "second": " s",
    "ast": "*",
    "infty": "∞",
    **dict.fromkeys(("approx", "sim"), "≈"),
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "theta": "θ",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "µ",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "chi": "χ",
}
_CHARACTERS = {"%": "%", "&": "&", "_": "_", "#": "#", ",": "\u2009"} | dict.fromkeys(
    (" ", "\n", "\t", "\\", ";", ":", "~"), " "
)
_DROPPED = frozenset(
    {"cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear", "footcite"}
    | {"ref", "eqref", "cref", "Cref", "autoref", "label", "footnote", "footnotemark", "tnote"}
    | {"footnotetext", "hspace", "vspace", "rule", "phantom", "hphantom", "vphantom", "index"}
    | {"includegraphics", "color", "cellcolor", "rowcolor", "columncolor", "fontsize", "todo"}
)
_ARGUMENTS_BEFORE = {"textcolor": 1, "colorbox": 1, "fcolorbox": 2, "href": 1, "parbox": 1} | {
    "raisebox": 1,
    "rotatebox": 1,
    "scalebox": 1,
    "resizebox": 2,
    "multicolumn": 2,
    "multirow": 2,
    "adjustbox": 1,
}
_SCRIPTS = {"textsuperscript", "textsubscript"}
_FRACTIONS = {"frac", "tfrac", "dfrac", "nicefrac", "sfrac"}
_SPREAD = re.compile(r"\s*\{?[^{}]{0,40}?(?:\\pm|\\textpm|±)")
_TEN = re.compile(r"(?<![\d.])10\s*$")
_POWER = re.compile(r"(?<=[\d.])\s*×\s*10\s*\^\s*([-+−–]?\s*\d{1,3})(?!\d)")
_GROUPED = re.compile(r"(?<=\d)\u2009(?=\d{3}(?!\d))")


def blank_comments(source: str) -> str:
    """Return a source with comments and verbatim text as spaces, every other offset kept."""
    shown = _VERBATIM.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    return _COMMENT.sub(lambda found: found[0] if found[1] else " " * len(found[0]), shown)


def group_end(source: str, at: int, stop: int | None = None) -> int:
    """Return the offset behind the group that opens at an offset: ``{}``, ``[]`` or ``()``.

    Braces nest; the other two end at their first closing mark outside of braces. A group that is
    not closed ends at `stop`, which is never further away than 20,000 characters.
    """
    closing = {"{": "}", "[": "]", "(": ")"}[source[at]]
    stop = min(len(source) if stop is None else stop, len(source), at + _MAX_GROUP)
    depth = 0
    index = at + 1
    while index < stop:
        character = source[index]
        if character == closing and not depth:
            return index + 1
        if character == "\\":
            index += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                return index
        index += 1
    return stop


def skip_space(source: str, at: int) -> int:
    """Return the offset of the next character that is no white space."""
    while at < len(source) and source[at].isspace():
        at += 1
    return at


def macros(source: str) -> dict[str, str]:
    """Return the macros of a source that take no argument and stand for a short text."""
    found: dict[str, str] = {}
    for macro in _MACRO.finditer(source):
        stop = macro.end() + _MAX_MACRO
        end = group_end(source, macro.end(), stop)
        body = source[macro.end() + 1 : end - 1]
        if source[end - 1 : end] == "}" and "#" not in body:
            found[macro["new"] or macro["old"]] = body
    return found


def plain_text(source: str, known: dict[str, str] | None = None) -> str:
    """Return what a cell or caption shows, in one line.

    What cannot be shown in a line (fractions, two groups side by side) never becomes one number.

    Args:
        source: LaTeX without comments; beyond `MAX_CELL` characters it is cut.
        known: Macros of the author, by name.
    """
    text = source[:MAX_CELL]
    for _ in range(2):  # a macro may use another one; one that uses itself ends here
        if known and "\\" in text:
            text = _USE.sub(lambda found: known.get(found[1], found[0]), text)[:MAX_CELL]
    text = text.replace("{,}", "\u2009").replace("{.}", ".")
    shown = _POWER.sub(_exponent, _Shown(text).text)
    return re.sub(r"[ \t\r\n\u2009]+", " ", _GROUPED.sub("", shown)).strip()


def _exponent(found: re.Match[str]) -> str:
    digits = re.sub(r"[\s+]", "", found[1])
    return "e" + digits.replace("−", "-").replace("–", "-")


class _Shown:
    """The text of a piece of LaTeX, put together from left to right."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._slashes: set[int] = set()
        at = 0
        while at < len(source):
            if at in self._slashes:
                self._add("/")
            at = self._step(at)
        self.text = "".join(self._parts)

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)

    def _last(self) -> str:
        return self._parts[-1][-1] if self._parts else ""

    def _step(self, at: int) -> int:
        """Take the next character, command or group mark; return where to go on."""
        source = self._source
        character = source[at]
        following = source[at + 1 : at + 2]
        if character == "\\":
            return self._command(at)
        if character in "^_":
            return self._script(at + 1)
        if character == "{":
            self._add(" " if self._last().isdigit() else "")
        elif character == "}":
            self._add(" " if following.isdigit() and self._last().isdigit() else "")
        elif character == "~" or (character.isspace() and character != "\u2009"):
            self._add(" ")
        elif character != "$":
            self._add(character)
        return at + 1

    def _command(self, at: int) -> int:
        found = _COMMAND.match(self._source, at)
        if found is None:
            return len(self._source)
        word, end = found["word"], found.end()
        if word is None:
            self._add(_CHARACTERS.get(found["sign"], ""))
            return end
        if word in _SIGNS:
            self._add(_SIGNS[word])
        elif word in _DROPPED:
            return self._pass_groups(end, 3)
        elif word in _ARGUMENTS_BEFORE:
            return self._pass_groups(end, _ARGUMENTS_BEFORE[word])
        elif word in _SCRIPTS:
            return self._script(skip_space(self._source, end))
        elif word in _FRACTIONS:
            at = skip_space(self._source, end)
            if self._source[at : at + 1] == "{":
                self._slashes.add(group_end(self._source, at))
        return skip_space(self._source, end)

    def _pass_groups(self, at: int, count: int) -> int:
        """Pass so many groups in braces, and the options between them."""
        while (here := skip_space(self._source, at)) < len(self._source):
            character = self._source[here]
            if character == "[" or (character == "{" and count):
                count -= character == "{"
                at = group_end(self._source, here)
            elif character == "*":
                at = here + 1
            else:
                break
        return at

    def _script(self, at: int) -> int:
        """Show a spread, a power of ten and the index of a letter; drop marks of foot-notes."""
        source = self._source
        grouped = source[at : at + 1] == "{"
        end = group_end(source, at) if grouped else at + 1
        if not grouped and source[at : at + 1] == "\\":
            found = _COMMAND.match(source, at)
            end = found.end() if found is not None else len(source)
        if _SPREAD.match(source[at:end]):
            self._add(" ")
            return at
        if _TEN.search("".join(self._parts[-8:])):
            self._add("^")
            return at + grouped
        return at if self._last().isalpha() else end
