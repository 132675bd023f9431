"""Which file of the repository a command starts, or why none."""

from __future__ import annotations

import dataclasses
import posixpath
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from rra.environment.names import distribution_of_import
from rra.scan.builds import Builds
from rra.scan.containers import image_files
from rra.scan.objects import Resolution
from rra.scan.purposes import RUNNERS, SHELLS, SHOWERS
from rra.scan.shellwords import PYTHON, make_words, simple_commands

_CODE: tuple[str, ...] = (
    ".py",
    ".sh",
    ".ipynb",
    ".R",
    ".r",
    ".jl",
    ".pl",
    ".bash",
    ".m",
    ".lua",
    ".rb",
    ".js",
)
_CODE += (".slurm", ".sbatch", ".pbs", ".Rmd", ".qmd", ".nf", ".smk", ".jar", ".java", ".go", ".do")
_CODE += (".bat", ".cmd", ".ps1", ".gp", ".gnu", ".plt", ".gnuplot", ".sas", ".csh", ".zsh", ".wls")
_HERE = PurePosixPath()
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_IMPLIED = {
    # program: files that it reads without being told
    "snakemake": ("Snakefile", "workflow/Snakefile"),
    "mlflow": ("MLproject",),
    "dvc": ("dvc.yaml",),
    "invoke": ("tasks.py",),
    "inv": ("tasks.py",),
    "doit": ("dodo.py",),
    "cmake": ("CMakeLists.txt",),
    "cargo": ("Cargo.toml",),
    "nextflow": ("main.nf",),
    "./configure": ("configure", "configure.ac"),
    "go": ("main.go", "go.mod"),
    "mvn": ("pom.xml",),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "scons": ("SConstruct",),
}
_LAUNCHERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "horovodrun", "orterun", "prun"}
    | {"aprun", "jsrun", "mpirun.openmpi", "mpiexec.hydra", "ibrun", "bsub", "qsub"}
    | {"parallel", "xargs", "watch", "firejail", "gdb", "valgrind", "perf", "nsys", "ncu"}
)
"""Programs that start another one whose words follow somewhere behind their own."""
_NO_STARTERS = frozenset(
    {"chmod", "chown", "cp", "mv", "rm", "ln", "ls", "mkdir", "touch", "echo", "diff", "sed", "vim"}
    | {"nano", "vi", "code", "emacs", "gedit", "open", "git", "pip", "pip3", "conda", "mamba"}
    | {"apt", "apt-get", "brew", "wget", "curl", "gdown", "aria2c", "scp", "rsync", "tar", "unzip"}
    | {"zip", "gunzip", "gzip", "dos2unix", "wc", "grep", "find", "md5sum", "sha256sum", "du"}
    | {"export", "black", "ruff", "flake8", "isort", "mypy", "pylint", "printf", "sudo"}
)
"""Programs that may be given scripts and start none."""
_LAUNCH_MODULES = frozenset(
    {
        "torch",
        "accelerate",
        "pdb",
        "cProfile",
        "profile",
        "trace",
        "coverage",
        "kernprof",
        "jupyter",
    }
    | {"memory_profiler", "scalene", "mpi4py", "papermill", "nbconvert", "bdb", "ipdb", "debugpy"}
)
_TOOL_MODULES = frozenset(
    {
        "pip",
        "build",
        "twine",
        "installer",
        "wheel",
        "setuptools",
        "virtualenv",
        "pipx",
        "tox",
        "nox",
    }
    | {"pre_commit", "black", "ruff", "mypy", "flake8", "pylint", "isort", "sphinx", "mkdocs"}
    | {"nltk", "poetry", "hatch", "cibuildwheel", "uv", "coverage", "pyflakes", "pytest_cov"}
)
"""Modules that are started with ``-m`` and that nobody imports."""
_SHOWN = re.compile(r"^[\w./+-]+$")


@dataclasses.dataclass(frozen=True)
class Places:
    """What commands are resolved against.

    Attributes:
        files: Files of the repository.
        folders: Its folders.
        builds: Programs that it builds or installs.
        packages: Modules that its code imports and packages that its documents and manifests name.
    """

    files: Collection[PurePosixPath]
    folders: Collection[PurePosixPath]
    builds: Builds = dataclasses.field(default_factory=Builds)
    packages: Collection[str] = frozenset()

    def is_known_module(self, name: str) -> bool:
        """Tell whether a module that is not here comes from a package that somebody knows.

        Args:
            name: Its top-level name.
        """
        known = name in sys.stdlib_module_names or name in _LAUNCH_MODULES | _TOOL_MODULES
        return known or name in self.packages or distribution_of_import(name) is not None


@dataclasses.dataclass(frozen=True)
class Resolved:
    """What a command starts.

    Attributes:
        resolution: How it was resolved.
        script: The file of the repository, or None.
        target: File or program that is named but not there.
        why: Why no file of the repository is started, or empty.
        built_by: Build file that builds the program, or None.
        program: Place of the built program in the repository.
        workdir: Directory that the command needs.
    """

    resolution: Resolution
    script: PurePosixPath | None = None
    target: str = ""
    why: str = ""
    built_by: PurePosixPath | None = None
    program: PurePosixPath | None = None
    workdir: PurePosixPath = _HERE


def normal(path: PurePosixPath) -> PurePosixPath | None:
    """Resolve ``.`` and ``..``; None when the path leaves the repository."""
    if path.is_absolute():
        return None
    text = posixpath.normpath(str(path))
    return None if text == ".." or text.startswith("../") else PurePosixPath(text)


def resolve(  # noqa: PLR0911 - one way of starting things after another
    words: Sequence[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find the file of the repository that a command starts.

    A file is looked for in the working directory, beside the document (first there when it is
    named without a folder and the document lies in one), and anywhere when only one file has that
    name.

    Args:
        words: Words of the command, wrappers taken off.
        workdir: Directory that it is run in.
        source: The document.
        places: What is in the repository.
    """
    if not words:
        return Resolved("outside", why="it starts no program", workdir=workdir)
    words = _apart(words) if PYTHON.match(words[0]) else words
    program = words[0]
    if program in {"make", "gmake", "nmake", "mingw32-make", "ninja"}:
        return _make(list(words[1:]), workdir, source, places)
    built = _built(words, workdir, places)
    if built is not None:
        return built
    inner = _launched(words, workdir, places)
    if inner:
        return dataclasses.replace(resolve(inner, workdir, source, places), program=None)
    if PurePosixPath(program).name in SHELLS and re.fullmatch(r"-\w*c", "".join(words[1:2])):
        return _of_shell(words[2:3], workdir, source, places)
    option = _python_option(words) if PYTHON.match(program) else ""
    if option == "-m" and words.index("-m") + 1 < len(words):
        return _module(words, workdir, source, places)
    if option == "-c":
        return _inline_code(words, workdir, places)
    return _by_names(words, workdir, source, places)


def _by_names(
    words: Sequence[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find the first of the files that the words of a command may name."""
    program = words[0]
    candidates = [one for one in _candidates(words, workdir, places) if "://" not in one]
    folders = [workdir]
    if workdir == PurePosixPath() and source.suffix not in _CODE:
        folders = [source.parent, workdir]
        if program == "cmake" and {"--build", "--install"} & set(words):
            folders = [workdir, source.parent]  # a folder of the whole project's
    for name in candidates:
        for folder in folders if "/" not in name.removeprefix("./") else folders[-1:]:
            found = find(name, folder, places)
            if found is not None:
                return Resolved("script", found, workdir=folder)
    if not candidates:
        return Resolved("outside", why=f"{program} is a program from outside", workdir=workdir)
    return _elsewhere(candidates, workdir, source, places)


def _apart(words: Sequence[str]) -> list[str]:
    """Write the interpreter's ``-um x`` as ``-u -m x``, and leave out ``-3.8`` of ``py``."""
    found = [words[0]]
    for number, word in enumerate(words[1:], start=1):
        joined = re.fullmatch(r"(-[bBdEiIOqsSuvx]+)([mc])", word)
        if joined:
            return [*found, joined[1], f"-{joined[2]}", *words[number + 1 :]]
        if not word.startswith("-") or word in {"-m", "-c"}:
            return [*found, *words[number:]]
        if not re.fullmatch(r"-\d(?:\.\d+)?(?:-\d\d)?", word):
            found.append(word)
    return found


def _launched(words: Sequence[str], workdir: PurePosixPath, places: Places) -> list[str]:
    """Return the command that a launcher starts: ``mpirun -n 4 ./a x`` starts ``./a x``."""
    if words[0] not in _LAUNCHERS or len(words) < 3:
        return []
    for number, word in enumerate(words[1:], start=1):
        rest = list(words[number:])
        if word in {"-m", "--module"} and re.fullmatch(r"[A-Za-z_][\w.]*", "".join(rest[1:2])):
            return ["python", "-m", *rest[1:]]
        if PYTHON.match(word) or word in SHELLS | RUNNERS:
            return rest if len(rest) > 1 else []
        if not word.startswith("-") and word.endswith(".py"):
            return ["python", *rest]
        code = word.endswith(_CODE) and find(word, workdir, places)
        named = code or word.startswith(("./", "../"))
        if named or (not word.startswith("-") and _is_program(word, places)):
            return rest
    return []


def _of_shell(
    lines: Sequence[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find what the line behind ``bash -c`` starts: its first command that starts a file."""
    for line in lines:
        for _, words in simple_commands(line):
            found = resolve(words, workdir, source, places) if words else None
            if found is not None and found.resolution in {"script", "built"}:
                return dataclasses.replace(found, program=None)
    return Resolved("outside", why="its commands stand in the line", workdir=workdir)


def _is_program(word: str, places: Places) -> bool:
    return bool(places.builds.named(PurePosixPath(word).name)) or word in places.builds.installed


def resolve_file(
    name: str, workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find a file that the prompt of another language is told to run.

    Args:
        name: The file as written, or empty where none is named.
        workdir: Directory that is worked in.
        source: The document.
        places: What is in the repository.
    """
    if not name:
        return Resolved("outside", why="it is typed at a prompt", workdir=workdir)
    found = find(name, workdir, places)
    if found is not None:
        return Resolved("script", found, workdir=workdir)
    return _elsewhere([name], workdir, source, places)


def find(name: str, workdir: PurePosixPath, places: Places) -> PurePosixPath | None:
    """Return the file of that name in a directory, or None."""
    exact = normal(workdir / name)
    return exact if exact is not None and exact in places.files else None


def _elsewhere(
    names: Sequence[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find a file beside the document, or the only one of that name; say its folder too."""
    for name in names:
        beside = find(name, source.parent, places)
        if beside is not None:
            return Resolved("script", beside, workdir=source.parent)
    name = names[0]
    tail = tuple(part for part in PurePosixPath(name).parts if part != ".")
    hits = []
    if tail and ".." not in tail and not name.startswith(("/", "~", "$")):
        hits = sorted(path for path in places.files if path.parts[-len(tail) :] == tail)
        near = [path for path in hits if path.is_relative_to(source.parent)]
        hits = near if len(near) == 1 else hits
    if len(hits) == 1:
        folder = PurePosixPath(*hits[0].parts[: -len(tail)])
        return Resolved("script", hits[0], workdir=folder)
    why = f"{name} is not in the repository"
    if hits:
        shown = ", ".join(str(hit) for hit in hits[:3])
        why = f"{name} may be any of {len(hits)} files: {shown}"
    elif re.match(r"[$~/<{\[]", name):
        why = f"{name} is no place in the repository"
    return Resolved("missing", target=name, why=why, workdir=workdir)


def _candidates(words: Sequence[str], workdir: PurePosixPath, places: Places) -> Iterator[str]:
    """Yield the words that may name what is started, the likeliest first."""
    program, rest = words[0], words[1:]
    plain = [w for w in rest if not w.startswith("-")]
    made_from = image_files(words)
    if made_from or program in _NO_STARTERS:
        yield from (one for one in made_from if len(made_from) == 1 or find(one, workdir, places))
        return
    if program.startswith(("./", "../")) or ("/" in program and not program.startswith("/usr")):
        if not PYTHON.match(program):
            yield program
            return
    elif program.endswith(_CODE) and re.fullmatch(r"[\w.-]+", program):
        yield program
        return
    if program in SHELLS | SHOWERS:
        if not (plain and re.search(r"(?:^|[/\\])(?:de)?activate(?:\.\w+)?$|^~/\.", plain[0])):
            yield from plain[:1]
        return
    if PYTHON.match(program):
        yield from _python_names(rest, workdir, places)
        return
    yield from (w for w in plain if w.endswith(_CODE))
    if program in RUNNERS | set(_IMPLIED):
        yield from _runner_names(program, plain, workdir, places)


def _python_option(words: Sequence[str]) -> str:
    """Return ``-m`` or ``-c`` when the interpreter itself is given it, in front of any script."""
    takes = False
    for word in words[1:]:
        if takes or word in {"-W", "-X"}:
            takes = not takes
        elif word in {"-m", "-c"}:
            return word
        elif not word.startswith("-"):
            break
    return ""


def _python_names(rest: Sequence[str], workdir: PurePosixPath, places: Places) -> Iterator[str]:
    takes = False
    for word in rest:
        if takes or word.startswith("-"):
            takes = word in {"-W", "-X"} and not takes
            continue
        yield word
        folder = normal(workdir / word)
        if folder is not None and folder in places.folders:
            yield f"{word}/__main__.py"
        elif "." not in word.rpartition("/")[2]:
            yield f"{word}.py"
        return


def _runner_names(  # noqa: C901 - one program after another
    program: str, plain: Sequence[str], workdir: PurePosixPath, places: Places
) -> Iterator[str]:
    if program in {"sbatch", "qsub", "bsub", "java", "go"}:
        yield from (word for word in plain if find(word, workdir, places))
    if program in {"matlab", "octave", "th", "lua", "julia", "java", "R", "Rscript"}:
        for word in plain:
            for name in re.findall(r"[\w./-]+\.(?:m|R|r|jl|Rmd|lua|qmd)\b", word):
                yield name
            stem = re.match(r"[\w/]+$", word.split(";")[0].split("(")[0].strip())
            if stem and program in {"matlab", "octave", "java"}:
                suffix = ".java" if program == "java" else ".m"
                if find(stem[0] + suffix, workdir, places):
                    yield stem[0] + suffix
    for name in _IMPLIED.get(program, ()):
        if find(name, workdir, places) or find(f"../{name}", workdir, places):
            yield name if find(name, workdir, places) else f"../{name}"
    if program == "cmake":
        for word in plain:
            if find(f"{word}/CMakeLists.txt", workdir, places):
                yield f"{word}/CMakeLists.txt"
        yield "CMakeLists.txt"


def _make(
    rest: list[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    """Find the Makefile, and say when it has no such target."""
    given, targets = make_words(rest)
    folder = normal(workdir / given.get("-C", ".")) or workdir
    names = (given["-f"],) if "-f" in given else _MAKEFILES
    beside = normal(source.parent / given.get("-C", ".")) or folder
    told = workdir != PurePosixPath() or source.suffix in _CODE
    folders = dict.fromkeys((folder, beside) if told else (beside, folder))
    made_for_it = told and workdir not in places.folders
    if made_for_it:
        folders = dict.fromkeys((folder, workdir.parent))
    for place in folders if not made_for_it else (folder,):
        for name in names:
            path = find(name, place, places)
            if path is not None:
                return _make_target(path, targets, place, workdir, places)
    for name in ("CMakeLists.txt", "configure", "configure.ac", "Makefile.in", "Makefile.PL"):
        for place in folders:
            made = find(name, place, places)
            if made is not None:
                why = f"{made} makes the Makefile"
                return Resolved("built", why=why, built_by=made, workdir=workdir)
    name = names[0]
    return Resolved("missing", target=name, why=f"{name} is not in the repository", workdir=workdir)


def _make_target(
    path: PurePosixPath,
    targets: list[str],
    folder: PurePosixPath,
    workdir: PurePosixPath,
    places: Places,
) -> Resolved:
    makefile = places.builds.makefiles.get(path)
    place = folder if workdir == PurePosixPath() and folder == path.parent else workdir
    if makefile is not None and not makefile.open:
        for target in targets:
            plain = _SHOWN.match(target)
            if plain and target not in makefile.targets and not find(target, folder, places):
                why = f"{path} has no target {target}"
                return Resolved("missing", target=target, why=why, workdir=workdir)
    at_root = path.parent == PurePosixPath() or workdir != PurePosixPath()
    return Resolved("script", path, workdir=workdir if at_root else place)


def _built(words: Sequence[str], workdir: PurePosixPath, places: Places) -> Resolved | None:
    """Find a program that the repository builds or installs."""
    program = words[0]
    name = PurePosixPath(program).name
    if "/" not in program and program in places.builds.installed:
        return Resolved("script", places.builds.installed[program], workdir=workdir)
    exact = normal(workdir / program)
    if exact in places.builds.programs:
        path = exact
    else:
        named = places.builds.named(name)
        hits = [h for h in named if "/" not in program or str(h).endswith(program.lstrip("./"))]
        if not named or find(program, workdir, places) or name in RUNNERS:
            return None
        if not hits:
            return _built_elsewhere(named, exact, workdir, places)
        path = hits[0]
        parts = PurePosixPath(program.lstrip("./")).parts
        if program.startswith("./") and path.parts[-len(parts) :] == parts:
            workdir = PurePosixPath(*path.parts[: -len(parts)])
    assert path is not None  # noqa: S101 - for the type checker
    by = places.builds.programs[path]
    known = by in places.files
    why = f"{by if known else 'a command of the documents'} builds {path}"
    folder = _folder_of_arguments(words[1:], workdir, places)
    return Resolved(
        "built",
        why=why,
        built_by=by if known else None,
        program=path,
        workdir=folder,
    )


def _built_elsewhere(
    named: Sequence[PurePosixPath],
    place: PurePosixPath | None,
    workdir: PurePosixPath,
    places: Places,
) -> Resolved | None:
    """Trust the document about the folder into which CMake or an installation puts a program."""
    makers = {places.builds.programs[path] for path in named}
    if len(makers) != 1:
        return None
    (by,) = makers
    why = f"{by} builds {named[0].name}"
    known = by in places.files
    return Resolved(
        "built", why=why, built_by=by if known else None, program=place, workdir=workdir
    )


def _folder_of_arguments(
    words: Sequence[str], workdir: PurePosixPath, places: Places
) -> PurePosixPath:
    """Return the only folder in which all files that a command names are, when not here."""
    folders: set[PurePosixPath] = set()
    for word in words:
        if word.startswith("-") or "." not in word or find(word, workdir, places):
            continue
        hits = {p.parent for p in places.files if p.name == word}
        if hits:
            folders = folders & hits if folders else hits
    if any(find(word, workdir, places) for word in words if not word.startswith("-")):
        return workdir
    return folders.pop() if len(folders) == 1 else workdir


def _module(  # noqa: PLR0911 - one place after another
    words: Sequence[str], workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> Resolved:
    at = words.index("-m") + 1
    name, rest = words[at], words[at + 1 :]
    found = _module_file(name, workdir, places)
    if found is not None:
        return Resolved("script", found, workdir=workdir)
    beside = _module_file(name, source.parent, places)
    if beside is not None:
        return Resolved("script", beside, workdir=source.parent)
    top = name.split(".")[0]
    if top in _LAUNCH_MODULES:
        names = [word for word in rest if word.endswith(_CODE) and not word.startswith("-")]
        if "-m" in rest:
            return _module(("python", *rest[rest.index("-m") :]), workdir, source, places)
        for script in names:
            hit = find(script, workdir, places)
            if hit is not None:
                return Resolved("script", hit, workdir=workdir)
        if names:
            return _elsewhere(names, workdir, source, places)
    elsewhere = [p for p in places.files if _is_module(p, name)]
    if len(elsewhere) == 1 and top not in sys.stdlib_module_names:
        depth = len(name.split(".")) + (elsewhere[0].name == "__main__.py")
        return Resolved("script", elsewhere[0], workdir=PurePosixPath(*elsewhere[0].parts[:-depth]))
    local = any(folder.name == top for folder in places.folders) and top != "pip"
    return _module_elsewhere(name, top, workdir, places, local=local)


def _module_elsewhere(
    name: str, top: str, workdir: PurePosixPath, places: Places, *, local: bool
) -> Resolved:
    outside = top in sys.stdlib_module_names | _LAUNCH_MODULES
    if (local and not outside) or not places.is_known_module(top):
        why = f"no module {name} is in the repository"
        if not local:
            why += f", and neither its code nor its documents name a package {top}"
        return Resolved("missing", target=name, why=why, workdir=workdir)
    return Resolved("outside", why=f"{name} is a module from outside", workdir=workdir)


def _is_module(path: PurePosixPath, name: str) -> bool:
    parts = tuple(name.split("."))
    whole = path.with_suffix("").parts
    return path.suffix == ".py" and (
        whole[-len(parts) :] == parts or whole[-len(parts) - 1 :] == (*parts, "__main__")
    )


def _module_file(name: str, workdir: PurePosixPath, places: Places) -> PurePosixPath | None:
    base = workdir.joinpath(*name.removesuffix(".py").split("."))
    if not base.name:
        return None
    for candidate in (base.with_name(base.name + ".py"), base / "__main__.py"):
        for path in (candidate, PurePosixPath("src") / candidate):
            if path in places.files:
                return path
    return None


def _inline_code(words: Sequence[str], workdir: PurePosixPath, places: Places) -> Resolved:
    """Find the module of the repository that code behind ``-c`` imports."""
    at = words.index("-c") + 1
    code = words[at] if at < len(words) else ""
    for name in re.findall(r"(?:^|[;\s])(?:from|import)\s+([A-Za-z_][\w.]*)", code):
        found = _module_file(name, workdir, places)
        if found is not None:
            return Resolved("script", found, workdir=workdir)
    return Resolved("outside", why="its code stands in the command", workdir=workdir)
