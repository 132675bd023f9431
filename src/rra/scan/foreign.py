"""Files, seeds and arguments of R, Julia, Perl, MATLAB and C++, told by names and simple patterns.

Nothing is parsed in full: a call counts when its name is known and its argument is a text, a
variable that stands for one text, or texts that are joined.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.marks import mark
from rra.scan.objects import FileUse
from rra.scan.traits.objects import Seed

LANGUAGES: Mapping[str, str] = {
    ".r": "R",
    ".rmd": "R",
    ".qmd": "R",
    ".jl": "Julia",
    ".pl": "Perl",
    ".m": "MATLAB",
    ".lua": "Lua",
    ".cpp": "C++",
    ".cc": "C++",
    ".cxx": "C++",
    ".c": "C++",
}
"""Languages by the suffix of their files, in small letters."""

_READS = {
    "R": r"read(?:_|\.)\w+(?:\.\w+)*|readRDS|readLines|readr::\w+|load|fread|vroom|scan|"
    r"read\w+|h5read|nc_open|raster|rast|st_read|loadRData|import|open_dataset|readtext|arrow::\w+",
    "Julia": r"CSV\.(?:read|File)|readdlm|load|deserialize|h5open|JLD2?\.load|jldopen|matread|"
    r"npzread|read|readlines|eachline|FileIO\.load|Arrow\.Table|XLSX\.readtable|BSON\.load|"
    r"JSON3?\.(?:parsefile|read)|TOML\.parsefile|Images\.load|NPZ\.npzread",
    "Perl": r"open|retrieve|read_file|slurp",
    "MATLAB": r"load|csvread|readtable|readmatrix|dlmread|xlsread|imread|importdata|textread|"
    r"audioread|h5read|ncread|fileread|fopen|readcell",
    "Lua": r"torch\.load|hdf5\.open|\w+\.read_\w+|matio\.load|image\.load|npy4th\.loadnpy|dofile",
    "C++": r"(?:std::)?ifstream(?:\s+\w+)?|fopen|imread|cv::imread|load|read_csv|freopen",
}
_WRITES = {
    "R": r"write(?:_|\.)\w+(?:\.\w+)*|saveRDS|save|fwrite|ggsave|pdf|png|jpeg|tiff|svg|cairo_pdf|"
    r"sink|writeLines|dput|save\.image|export|write\w*|st_write|capture\.output",
    "Julia": r"CSV\.write|writedlm|save|savefig|serialize|jldsave|matwrite|npzwrite|write|"
    r"FileIO\.save|Arrow\.write|BSON\.@save|NPZ\.npzwrite|Plots\.savefig|JSON\.print|XLSX\.writetable",
    "Perl": r"store|nstore|write_file",
    "MATLAB": r"save|csvwrite|writetable|writematrix|dlmwrite|xlswrite|imwrite|saveas|print|"
    r"exportgraphics|savefig|audiowrite|h5write|hgexport|writecell",
    "Lua": r"torch\.save|\w+\.write_\w+|image\.save|gnuplot\.\w*figure|npy4th\.savenpy",
    "C++": r"(?:std::)?ofstream(?:\s+\w+)?|imwrite|cv::imwrite|save",
}
_SEEDS = {
    "R": r"\bset\.seed\s*\(\s*([^)\n]*)\)",
    "Julia": (
        r"\b(?:Random\.)?seed!\s*\(\s*([^)\n]*)\)|\bMersenneTwister\s*\(\s*([^)\n]+)\)|"
        r"\b(?:StableRNG|Xoshiro)\w*\s*\(\s*(\d[^)\n]*)\)"
    ),
    "Perl": r"\bsrand\s*\(?\s*(\d+)",
    "MATLAB": (
        r"\brng\s*\(\s*(\d[^)\n]*)\)|"
        r"\brandn?\s*\(\s*'(?:seed|state|twister)'\s*,\s*([^)\n]+)\)"
    ),
    "Lua": r"\b(?:cu)?(?:torch\.manualSeed(?:All)?|math\.randomseed)\s*\(\s*([^)\n]*)\)",
    "C++": (
        r"\bstd::(?:mt19937(?:_64)?|default_random_engine|minstd_rand)\s+\w+\s*[({]\s*(\w+)|"
        r"\bsrand(?:48)?\s*\(\s*(\w+)"
    ),
}
_ASSIGNED = re.compile(
    r"^[ \t]*(?:const\s+|my\s+\$|local\s+|global\s+|static\s+)*(?:std::string\s+|char\s*\*?\s*)?"
    r"([A-Za-z_][\w.]*)(?:\[\])?\s*(?:<-|=(?!=))\s*(.+?);?\s*$",
    re.MULTILINE,
)
_JOINS = re.compile(r"^(?:file\.path|here|here::here|joinpath|fullfile|path|fs::path)$")
_GLUES = re.compile(r"^(?:paste0|string|strcat|\[)$")
_COMMENT = {"R": "#", "Julia": "#", "Perl": "#", "MATLAB": "%", "Lua": "--", "C++": "//"}
_NO_NAME = re.compile(r"[\n<>|*?]|://")
_MAX_CALLS = 500
_IN_DOCUMENT = re.compile(r"^```\s*\{[rR][^}]*\}\s*$(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class ForeignFile:
    """One file of another language.

    Attributes:
        path: Place in the repository.
        language: Its language.
        reads: Files that it reads.
        writes: Files that it writes.
        seeds: Calls that fix randomness.
    """

    path: PurePosixPath
    language: str
    reads: tuple[FileUse, ...] = ()
    writes: tuple[FileUse, ...] = ()
    seeds: tuple[Seed, ...] = ()


def is_foreign(path: PurePosixPath) -> bool:
    """Tell whether a file is code of a language that is read here."""
    return path.suffix.lower() in LANGUAGES


def read_foreign(path: PurePosixPath, text: str) -> ForeignFile:
    """Read one file.

    Args:
        path: Its place in the repository.
        text: Its content.
    """
    language = LANGUAGES[path.suffix.lower()]
    if path.suffix.lower() in {".rmd", ".qmd"}:
        text = _only_code(text)
    text = _without_comments(text, _COMMENT[language])
    if language == "Julia":
        text = re.sub(r"\$\((?:[^()\n]|\([^()\n]*\))*\)", "*", text)
    names = _names(text)
    writes = [*_uses(text, _WRITES[language], names), *_opened(text, language, names, written=True)]
    reads = [*_uses(text, _READS[language], names), *_opened(text, language, names, written=False)]
    written = {(use.pattern, use.line) for use in writes}
    kept = [use for use in reads if (use.pattern, use.line) not in written]
    return ForeignFile(
        path,
        language,
        tuple(dict.fromkeys(kept)),
        tuple(dict.fromkeys(writes)),
        tuple(_seeds(text, language, path)),
    )


def _only_code(text: str) -> str:
    """Blank everything but the code of a document, lines kept."""
    kept = [""] * (text.count("\n") + 1)
    for found in _IN_DOCUMENT.finditer(text):
        start = text.count("\n", 0, found.start(1))
        for number, line in enumerate(found[1].split("\n")):
            kept[start + number] = line
    return "\n".join(kept)


def _without_comments(text: str, sign: str) -> str:
    pattern = r"(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|" + re.escape(sign) + r"[^\n]*"
    return re.sub(pattern, lambda m: m[1] or "", text)


def _names(text: str) -> dict[str, str]:
    """Return the variables that are assigned one text each, and those that hold arguments."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for name, value in _ASSIGNED.findall(text)[:2_000]:
        pattern = _pattern(value.strip(), found)
        if pattern is None or (name in found and found[name] != pattern):
            several.add(name)
        else:
            found[name] = pattern
    arguments = re.search(r"\bmy\s*\(([^)]*)\)\s*=\s*@ARGV", text)
    for number, name in enumerate(re.findall(r"\w+", arguments[1]) if arguments else (), start=1):
        found[name] = mark(str(number))
    return {name: value for name, value in found.items() if name not in several}


def _uses(text: str, functions: str, names: Mapping[str, str]) -> Iterator[FileUse]:
    call = re.compile(rf"(?<![\w.$!])(?:{functions})\s*\(")
    for number, found in enumerate(call.finditer(text)):
        if number >= _MAX_CALLS:
            return
        line = text.count("\n", 0, found.start()) + 1
        for argument in _arguments(text, found.end())[:4]:
            plain = re.sub(r"^(?:file|path|filename|con|input|destfile)\s*=\s*", "", argument)
            pattern = _pattern(plain, names)
            if pattern is not None and _is_name(pattern):
                yield FileUse(pattern, line)
                break


def _is_name(pattern: str) -> bool:
    if _NO_NAME.search(pattern.replace("*", "")) or len(pattern) > 300:
        return False
    return pattern.startswith("{=") or bool(re.search(r"\.\w{1,8}$|/", pattern))


def _opened(
    text: str, language: str, names: Mapping[str, str], *, written: bool
) -> Iterator[FileUse]:
    """Yield the files that are opened with a mode."""
    if language not in {"Perl", "Julia", "MATLAB", "Lua", "C++"}:
        return
    for found in re.finditer(r"(?<![\w.])(?:f?open)\s*\(", text):
        arguments = _arguments(text, found.end())
        line = text.count("\n", 0, found.start()) + 1
        if language == "Perl" and len(arguments) > 2:
            mode, name = arguments[1], arguments[2]
        elif len(arguments) > 1:
            mode, name = arguments[1], arguments[0]
        else:
            continue
        writes = bool(re.search(r"[\"'][^\"']*[>wa]", mode))
        pattern = _pattern(name, names)
        if writes is written and pattern is not None and _is_name(pattern):
            yield FileUse(pattern, line)


def _arguments(text: str, start: int) -> list[str]:
    """Return the arguments of a call, split at the commas that belong to it."""
    depth, quote, at = 0, "", start
    found = [""]
    while at < len(text) and at - start < 2_000:
        character = text[at]
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif character in ",;" and depth == 0:
            found.append("")
            at += 1
            continue
        found[-1] += character
        at += 1
    return [one.strip() for one in found]


def _pattern(value: str, names: Mapping[str, str], depth: int = 0) -> str | None:  # noqa: PLR0911 - one form after another
    """Return the path that an expression stands for, or None."""
    value = value.strip().rstrip(";").strip()
    text = re.fullmatch(r"[rR]?([\"'])((?:(?!\1)[^\n])*)\1", value)
    if text is not None:
        return re.sub(r"\$\(?[\w.]+\)?|%[\d.]*[sdif]", "*", text[2]) or None
    if re.fullmatch(r"\$?[A-Za-z_][\w.]*", value):
        return names.get(value.lstrip("$"))
    word = re.fullmatch(r"(?:\$?ARGV|args?|argv)\s*\[+\s*(\d+)\s*\]+", value)
    if word is not None:
        first = int(word[1]) + (1 if value.startswith("$") else 0)
        return mark(str(first))
    named = re.fullmatch(
        r"(?:opts?|args?|argv|parsed_args|arguments|params|cfg|config)(?:\$options)?"
        r"(?:\$|\.|\[+[\"':])([A-Za-z_]\w*)(?:[\"']?\]+)?",
        value,
    )
    if named is not None:
        return mark(named[1])
    parts = re.split(r"\s*(?:\.\.|\s\.\s|\s\*\s)\s*(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", value)
    if 1 < len(parts) <= 10 and depth < 4 and re.match(r"[\"'\w$]", value):
        joined = "".join(_pattern(one, names, depth + 1) or "*" for one in parts)
        return joined if joined.replace("*", "").strip("/.") else None
    call = re.match(r"([\w.:]+|\[)\s*\(?", value)
    if call is None or depth > 4 or not value.endswith((")", "]")):
        return None
    if _JOINS.match(call[1]) or _GLUES.match(call[1]):
        given = [one for one in _arguments(value, call.end()) if not re.match(r"\w+\s*=", one)]
        parts = [_pattern(one, names, depth + 1) or "*" for one in given]
        glue = "/" if _JOINS.match(call[1]) else ""
        whole = glue.join(parts)
        return whole if whole.replace("*", "").strip("/.") else None
    return None


def _seeds(text: str, language: str, path: PurePosixPath) -> Iterator[Seed]:
    for found in re.finditer(_SEEDS[language], text):
        value = next((group for group in found.groups() if group), "").strip()
        shown = value if re.fullmatch(r"[\d_]+L?", value) else ""
        name = re.match(r"\s*[\w.:!]+", found[0])
        line = text.count("\n", 0, found.start()) + 1
        call = name[0].strip() if name else language
        library = call.partition(".")[0] if language == "Lua" else language
        yield Seed(library, call, shown, path, line)
