"""What a documented command is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rra.scan.objects import CommandKind, CommandPurpose
from rra.scan.shellwords import PYTHON, make_words

SHELLS = frozenset({"bash", "sh", "zsh", "ksh", "csh", "source", "."})
SHOWERS = frozenset({"cat", "head", "tail", "less", "more"})
RUNNERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "horovodrun", "Rscript", "julia"}
    | {"jupyter", "papermill", "snakemake", "runipy", "perl", "octave", "matlab", "lua", "th"}
    | {"java", "ruby", "node", "sbatch", "qsub", "bsub", "nextflow", "dvc", "mlflow", "invoke"}
    | {
        "inv",
        "doit",
        "streamlit",
        "R",
        "ipython",
        "kernprof",
        "go",
        "stata",
        "sas",
        "wolframscript",
    }
)
_INSTALLERS = frozenset(
    {"pip", "pip3", "conda", "mamba", "micromamba", "apt", "apt-get", "brew", "poetry", "pipenv"}
    | {"uv", "virtualenv", "pyenv", "yum", "dnf", "npm", "docker", "module", "easy_install", "gem"}
    | {
        "podman",
        "singularity",
        "apptainer",
        "git",
        "pdm",
        "pixi",
        "hatch",
        "mkvirtualenv",
        "workon",
    }
    | {
        "pipx",
        "luarocks",
        "cpan",
        "cpanm",
        "docker-compose",
        "deactivate",
        "nvidia-docker",
        "apk",
        "pacman",
        "activate",
    }
)
_DOWNLOADERS = frozenset(
    {"wget", "curl", "gdown", "gsutil", "aws", "kaggle", "huggingface-cli", "hf", "rsync", "scp"}
    | {"unzip", "tar", "gunzip", "axel", "aria2c", "ftp", "dvc-pull", "7z", "unrar", "bunzip2"}
)
_UNPACKERS = frozenset({"unzip", "tar", "gunzip", "7z", "unrar", "bunzip2"})
_TESTERS = frozenset({"pytest", "nosetests", "tox", "nox", "unittest", "py.test", "flake8", "mypy"})
_BUILDERS = frozenset(
    {"./configure", "cmake", "cargo", "gcc", "g++", "cc", "clang", "clang++", "nvcc", "gfortran"}
    | {"mex", "nmake", "ninja", "mvn", "gradle", "./gradlew", "javac", "meson", "bazel", "autoconf"}
)
_MAKE_OTHER = re.compile(
    r"install|setup|env|deps|requirements|clean|test|lint|format|docs?$|help|dist"
)
_PURPOSE_WORDS: tuple[tuple[CommandPurpose, str], ...] = (
    ("install", r"install|setup|deps|env|requirements"),
    ("download", r"download|fetch|get|pull|wget"),
    ("prepare", (r"prepare|preprocess|preprocessing|process|build|make|generate|gen|create|convert|"
     r"clean|filter|unpack|extract|split|tokenize|prep|tokenise|data|dataset")),
    ("evaluate", (r"eval|evaluate|evaluation|test|score|metric|metrics|benchmark|verify|validate|"
     r"report|decode|wer|bleu|fid|predict|infer|inference|acc|accuracy")),
    ("train", r"train|trainer|training|finetune|finetuning|pretrain|fit|learn|tune|search|sweep"),
    ("plot", r"plot|plots|plotting|figure|figures|fig|visualize|visualise|vis|viz|draw|graphs?"),
)  # fmt: skip


def kind_of(words: Sequence[str], *, known_file: bool, installed: bool) -> CommandKind:
    """Tell the kind of a command from its words.

    Args:
        words: Its words, wrappers taken off.
        known_file: Whether a word that matters names a file of the repository.
        installed: Whether the repository builds or installs the program.
    """
    if not words:
        return "other"
    program, rest = words[0], list(words[1:])
    if PYTHON.match(program):
        return _python_kind(rest)
    special = _special_kind(program, rest)
    if special is not None:
        return special
    if installed or program in SHELLS | RUNNERS or program.startswith(("./", "../")):
        names = [PurePosixPath(word).name for word in [*rest[:1], program]]
        installs = program in SHELLS and re.search(r"install|setup|download", names[0])
        return "install" if installs else "run"
    return "run" if known_file else "other"


def _special_kind(  # noqa: PLR0911 - one program after another
    program: str, rest: list[str]
) -> CommandKind | None:
    if program in {"make", "gmake"}:
        return _make_kind(rest)
    if program in _BUILDERS:
        runs = program == "cargo" and rest[:1] == ["run"]
        return "run" if runs else "build"
    if program == "git":
        downloads = rest[:1] in (["clone"], ["lfs"], ["submodule"])
        return "install" if downloads or rest[:1] == ["checkout"] else "other"
    if program in SHELLS and any(re.search(r"(?:^|/)activate$|^activate$", w) for w in rest):
        return "install"
    if program == "julia" and any("Pkg." in word for word in rest):
        return "install"
    if program in {"R", "Rscript"} and any("install" in w or "renv::restore" in w for w in rest):
        return "install"
    if program == "go" and rest[:1] == ["build"]:
        return "build"
    if program in {"docker", "podman", "nvidia-docker"} and rest[:1] == ["run"]:
        return "other"
    groups: tuple[tuple[CommandKind, frozenset[str]], ...] = (
        ("install", _INSTALLERS),
        ("download", _DOWNLOADERS),
        ("test", _TESTERS),
    )
    return next((kind for kind, programs in groups if program in programs), None)


def _make_kind(rest: list[str]) -> CommandKind:
    _, targets = make_words(rest)
    if not targets or targets in (["all"], ["clean", "all"]):
        return "build"
    return "other" if any(_MAKE_OTHER.search(target) for target in targets) else "run"


def _python_kind(
    rest: list[str],
) -> CommandKind:
    while rest and rest[0] in {"-u", "-O", "-B", "-E", "-s", "-i"}:
        rest = rest[1:]
    if not rest:
        return "other"
    if rest[0] == "-m" and len(rest) > 1:
        module = rest[1].split(".")[0]
        if module in {"pip", "venv", "virtualenv", "ensurepip", "ipykernel", "spacy", "nltk"}:
            return "install"
        return "test" if module in _TESTERS else "run"
    if rest[0] in {"-c", "--version", "-V", "--help"}:
        return "run" if rest[0] == "-c" else "other"
    if PurePosixPath(rest[0]).name == "setup.py":
        return "build" if "build_ext" in rest or "build" in rest else "install"
    return "run"


def purpose_of(  # noqa: PLR0911 - the first that tells counts
    kind: CommandKind, words: Sequence[str], script: PurePosixPath | None, target: str
) -> CommandPurpose:
    """Tell what a command is for, more finely than its kind: from the names that it gives.

    The name of the script counts first, then a subcommand, then switches such as ``--do_train``,
    then the script's folder.
    """
    program = words[0] if words else ""
    if kind == "install" and (program == "git" or program in _DOWNLOADERS):
        return "download"
    if program in _UNPACKERS:
        return "prepare"
    if kind == "install" and script is not None and "download" in script.stem:
        return "download"
    if kind in {"install", "download", "test", "build"}:
        return "install" if kind == "install" else kind
    if program in {"make", "gmake"}:
        found = next((p for w in words[1:] if (p := _by_name(w)) is not None), None)
        return "other" if "clean" in words else found or ("run" if kind == "run" else "other")
    if kind == "other":
        return "other"
    name = script.stem if script is not None else PurePosixPath(target).name or program
    plain = [word for word in words[1:] if re.fullmatch(r"[a-z]+", word)]
    named = script is not None and any(script.stem in word for word in words)
    subcommands = plain[:1] if script is not None and words[2 if named else 1 : 3] else []
    switches = [w.lstrip("-") for w in words if re.fullmatch(r"--?(?:do_)?(?:train|eval|test)", w)]
    folders = [script.parent.name] if script is not None else []
    order = (*subcommands, name) if not named else (name, *subcommands)
    for part in (*order, *switches, *folders):
        found = _by_name(part)
        if found is not None:
            return found
    return "run"


def _by_name(name: str) -> CommandPurpose | None:
    """Return the purpose that a name tells, the first word that tells one counting."""
    words = [w for w in re.split(r"[\W_\d]+|(?<=[a-z])(?=[A-Z])", name) if w]
    for word in words:
        for purpose, pattern in _PURPOSE_WORDS:
            if re.fullmatch(pattern, word.lower()):
                return purpose
    return None
