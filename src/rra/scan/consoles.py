"""What documents have somebody type at the prompt of R, Julia or Octave instead of a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CALLS: dict[str, re.Pattern[str]] = {
    "r": re.compile(
        r"^(?:(?:utils::)?install\.packages|renv::(?:restore|init|install)|(?:base::)?source|"
        r"(?:devtools|remotes|pak|BiocManager)::\w*install\w*|BiocManager::install|"
        r"(?:devtools::)?install_github|(?:rmarkdown|knitr|bookdown|quarto)::(?:render|knit|"
        r"render_book|quarto_render)|(?:targets::)?tar_make|(?:drake::)?r_make|sys\.source)\s*\(.*$"
    ),
    "julia": re.compile(
        r"^(?:include\s*\(.*\)|(?:import|using)\s+Pkg\s*[;,].*|Pkg\.(?:add|instantiate|activate|"
        r"develop|resolve|build|update)\s*\(.*\)|\]\s*(?:add|instantiate|activate|dev)\b.*)\s*;?$"
    ),
    "matlab": re.compile(
        r"^(?:run(?:\s*\(\s*|\s+)['\"]?[\w./-]+|mex\s+\S+\.c\w*|pkg\s+install\s+\S+).*$"
    ),
}
_NAMES = {"r": "r", "rscript": "r", "julia": "julia", "jl": "julia", "matlab": "matlab"}
_NAMES |= {"octave": "matlab", "julia-repl": "julia", "jlcon": "julia"}
_PROMPTS = re.compile(r"^\s*(?P<name>julia|R|octave(?::\d+)?|>>|pkg|\(\S+\)\s*pkg)?>\s*")
_FUNCTION = re.compile(r"^(?:(?:\[[^\]]*\]|\w+)\s*=\s*)?([A-Za-z]\w*)\s*(?:\(.*|;.*|%.*|,.*)?$")
_FILE = re.compile(
    r"\b(?:source|render|include|run|knit|quarto_render|sys\.source)(?:\s*\(\s*|\s+)"
    r"(?:[A-Za-z]\w*\s*=\s*)?[\"']?([\w./-]+)[\"']?"
)


def console_calls(body: list[tuple[int, str]], info: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block of R, Julia or Octave that install things or run a file.

    Args:
        body: Lines of the block with their numbers.
        info: Its language in small letters.
    """
    known = _NAMES.get(info)
    for number, line in body:
        prompt = _PROMPTS.match(line)
        text = re.sub(r"\s+#.*$", "", line[prompt.end() :] if prompt else line).strip()
        if known is not None and _CALLS[known].match(text):
            yield number, text


def console_call(text: str) -> str:
    """Return the language in whose prompt a line is typed, or empty."""
    return next((name for name, calls in _CALLS.items() if calls.match(text)), "")


def console_file(text: str) -> str:
    """Return the file that a call names which runs one, or empty: ``source("a.R")``."""
    found = _FILE.search(text)
    if found is None or not console_call(text):
        return ""
    runs = text.lstrip().startswith("run")
    return f"{found[1]}.m" if runs and "." not in found[1].rpartition("/")[2] else found[1]


def matlab_file(text: str) -> str:
    """Return the file of the function or script that a line at the prompt of MATLAB starts."""
    found = _FUNCTION.match(text)
    return f"{found[1]}.m" if found else ""


def console_installs(text: str) -> bool:
    """Tell whether a call installs packages."""
    return bool(re.search(r"install|renv::(?:restore|init)|Pkg\.|Pkg\b|^\]|pkg\b|mex\b", text))
