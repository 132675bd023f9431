"""Languages of a repository by name, with the files that say what they need and how they build."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rra.scan.traits.objects import Language

_SUFFIXES = {
    "Python": ".py .pyx .pxd .pyi",
    "Jupyter Notebook": ".ipynb",
    "Shell": ".sh .bash .zsh .ksh .sbatch .slurm .pbs",
    "R": ".r .rmd .rnw .qmd",
    "Julia": ".jl",
    "C": ".c",
    "C++": ".cc .cpp .cxx .hpp .hh .hxx .c++ .h++",
    "CUDA": ".cu .cuh",
    "Lua": ".lua",
    "MATLAB": ".m .mlx",
    "Java": ".java",
    "Scala": ".scala",
    "Kotlin": ".kt",
    "Fortran": ".f .for .f77 .f90 .f95 .f03 .f08",
    "Perl": ".pl .pm",
    "JavaScript": ".js .mjs",
    "TypeScript": ".ts .tsx",
    "Go": ".go",
    "Rust": ".rs",
    "Haskell": ".hs",
    "OCaml": ".ml .mli",
    "Stata": ".do .ado",
    "SAS": ".sas",
    "Mathematica": ".nb .wl",
    "Ruby": ".rb",
    "C#": ".cs",
    "Stan": ".stan",
    "CMake": ".cmake",
    "PowerShell": ".ps1",
    "Batchfile": ".bat .cmd",
    "Gnuplot": ".gp .gnu .plt .gnuplot",
    "Snakemake": ".smk",
}
_OF = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_MAKE = re.compile(r"^(?:GNUm|M|m)akefile(?:\.\w+)?$|\.mk$")
_ENVIRONMENT = {
    "R": r"renv\.lock|DESCRIPTION|packrat\.lock|\.Rprofile|install\.R",
    "Julia": r"Project\.toml|JuliaProject\.toml|Manifest.*\.toml|REQUIRE",
    "Lua": r".*\.rockspec",
    "Java": r"pom\.xml|build\.gradle(?:\.kts)?",
    "Scala": r"build\.sbt",
    "JavaScript": r"package\.json|package-lock\.json|yarn\.lock",
    "TypeScript": r"package\.json|tsconfig\.json",
    "Go": r"go\.mod|go\.sum",
    "Rust": r"Cargo\.toml|Cargo\.lock",
    "Perl": r"cpanfile|Makefile\.PL",
    "Haskell": r"stack\.yaml|.*\.cabal",
    "Ruby": r"Gemfile(?:\.lock)?",
    "C++": r"conanfile\.(?:txt|py)|vcpkg\.json",
    "C": r"conanfile\.(?:txt|py)|vcpkg\.json",
}
_BUILD = re.compile(
    r"^(?:(?:GNUm|M|m)akefile(?:\.\w+)?|CMakeLists\.txt|configure(?:\.ac)?|meson\.build|SConstruct|"
    r"BUILD(?:\.bazel)?|.*\.mk)$"
)
_COMPILED = frozenset({"C", "C++", "CUDA", "Fortran"})
_SHEBANG = re.compile(rb"^#!\s*\S*/(?:env\s+)?(\w+)")
_INTERPRETERS = {
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "dash"), "Shell"),
    **dict.fromkeys(("python", "python2", "python3"), "Python"),
    "Rscript": "R",
    "perl": "Perl",
    "julia": "Julia",
    "lua": "Lua",
    "ruby": "Ruby",
}
_MAX_UNNAMED = 200


def find_languages(root: Path, files: Mapping[PurePosixPath, int]) -> tuple[Language, ...]:
    """Return the languages of a repository, the one with most bytes first.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    counts: dict[str, list[int]] = {}
    unnamed = 0
    for path, size in files.items():
        name = _language(path)
        if name is None and not path.suffix and 2 < size < 100_000 and unnamed < _MAX_UNNAMED:
            unnamed += 1
            name = _by_shebang(root / path)
        if name is not None:
            sums = counts.setdefault(name, [0, 0])
            sums[0] += 1
            sums[1] += size
    headers = [size for path, size in files.items() if path.suffix == ".h"]
    for name in ("C++", "C"):
        if headers and name in counts:
            counts[name][0] += len(headers)
            counts[name][1] += sum(headers)
            break
    builds = tuple(path for path in files if _BUILD.match(path.name))
    found = [
        Language(name, count, size, _named(name, files), builds if name in _COMPILED else ())
        for name, (count, size) in counts.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.size, one.name)))


def _language(path: PurePosixPath) -> str | None:
    if _MAKE.search(path.name):
        return "Make"
    if path.name == "CMakeLists.txt":
        return "CMake"
    if path.name == "Snakefile":
        return "Snakemake"
    return _OF.get(path.suffix.lower())


def _by_shebang(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            found = _SHEBANG.match(file.read(80))
    except OSError:
        return None
    return _INTERPRETERS.get(found[1].decode("ascii")) if found else None


def _named(language: str, files: Mapping[PurePosixPath, int]) -> tuple[PurePosixPath, ...]:
    pattern = _ENVIRONMENT.get(language)
    if pattern is None:
        return ()
    return tuple(path for path in files if re.fullmatch(pattern, path.name))
