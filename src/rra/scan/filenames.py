"""What the names of files tell: data, results, code; and names relative to a repository."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from rra.scan.constants import HERE

DATA_SUFFIXES = frozenset(
    {".csv", ".tsv", ".npz", ".npy", ".txt", ".json", ".jsonl", ".mat", ".h5", ".hdf5", ".parquet"}
    | {".arff", ".dat", ".data", ".pkl", ".pickle", ".xlsx", ".xls", ".gz", ".zip", ".bz2", ".xz"}
    | {".fasta", ".fa", ".nc", ".libsvm", ".svm", ".feather", ".sav", ".rds", ".db", ".sqlite"}
    | {".rdata", ".rda", ".dta", ".jls", ".jld", ".jld2", ".bson", ".tif", ".tiff", ".nii", ".fits"}
    | {".tgz", ".tar", ".7z", ".zst", ".h5ad", ".loom", ".fastq", ".fq", ".bam", ".vcf", ".bed"}
    | {".gff", ".pdb", ".sdf", ".smi", ".mol2", ".xyz", ".conll", ".conllu", ".ply", ".off", ".obj"}
    | {".stl", ".geojson", ".shp", ".gpkg", ".kml", ".las", ".wav", ".flac", ".mp3", ".mp4", ".avi"}
    | {".dcm", ".edf", ".root", ".tfrecord", ".lmdb", ".arrow", ".orc", ".avro", ".msgpack", ".ods"}
    | {".graphml", ".gml", ".edgelist", ".mtx", ".bib", ".vec", ".ndjson", ".tab", ".sql", ".log"}
)
"""Suffixes of files that usually hold data."""

_CODE_SUFFIXES = frozenset(
    {".py", ".sh", ".ipynb", ".r", ".jl", ".c", ".h", ".cpp", ".cc", ".cu", ".m", ".pl", ".java"}
    | {".md", ".rst", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".lock", ".bash", ".html", ".tex"}
)
_RESULT_NAME = re.compile(
    r"result|metric|score|accurac|output|prediction|(?:^|[_-])logs?(?:$|[_-])|summary|"
    r"(?:^|[_-])eval|report|performance|figures?$|plots?$|checkpoint",
    re.IGNORECASE,
)
_MANIFEST_NAME = re.compile(
    r"^(?:requirements.*\.txt|environment.*\.ya?ml|package(?:-lock)?\.json|config.*\.json|"
    r"settings.*\.json|CMakeLists\.txt|licen[cs]e.*|readme.*|authors.*|changelog.*|copying.*)$",
    re.IGNORECASE,
)
_CONFIGURATION = re.compile(
    r"(?:^|[_.-])(?:conf|config|configs|cfg|params?|settings?|options?|hparams|hyperparams?|hydra)"
    r"(?:[_.-]|$)",
    re.IGNORECASE,
)
_MODEL_SUFFIX = re.compile(
    r"\.(?:pt|pth|ckpt(?:-\d+)?|safetensors|onnx|caffemodel|keras|joblib|model|params|t7|weights|tflite|"
    r"msgpack|pth\.tar|mdl|gguf)$",
    re.IGNORECASE,
)
_MODEL_NAME = re.compile(
    r"(?:model|net|weights?|checkpoint|ckpt|clf|classifier|regressor|estimator)\w*\.(?:pkl|pickle|bin|h5|hdf5|npz|pb|rds)$",
    re.IGNORECASE,
)


_MODEL_FOLDER = re.compile(
    r"(?:^|/)(?:weights?|checkpoints?|ckpts?|pretrained|models?|saved_models?)/(?:[^/]+/)*"
    r"[^/]+\.(?:pkl|pickle|bin|h5|hdf5|npz|pb|rds|mat)$",
    re.IGNORECASE,
)
_SYSTEM = re.compile(r"^/(?:dev|proc|sys|etc|usr|bin|lib)(?:/|$)")


def looks_like_result(path: PurePosixPath) -> bool:
    """Tell whether a file's name says that it holds results of a run."""
    if path.suffix.lower() in _CODE_SUFFIXES or _MANIFEST_NAME.match(path.name):
        return False
    if any(
        part.lower() in {"data", "dataset", "datasets", "input", "inputs"}
        for part in path.parts[:-1]
    ):
        return False
    return any(_RESULT_NAME.search(part) for part in (path.stem, *path.parts[:-1]))


def looks_like_data(path: PurePosixPath) -> bool:
    """Tell whether a file's name says that it may be input data."""
    if _MANIFEST_NAME.match(path.name) or path.suffix.lower() in _CODE_SUFFIXES:
        return False
    return path.suffix.lower() in DATA_SUFFIXES


def may_be_read_as_data(name: str) -> bool:
    """Tell whether a file that code opens may be data: no code, configuration or manifest.

    Args:
        name: Path relative to the repository, or of a machine; unknown parts are ``*``.
    """
    path = PurePosixPath(name)
    if _MANIFEST_NAME.match(path.name) or _SYSTEM.match(name) or path.name.startswith("."):
        return False
    if path.suffix.lower() in {".yaml", ".yml", ".json", ".toml", ".cfg", ".ini"}:
        told = (path.stem, *path.parts[:-1])
        if path.suffix.lower() in {".toml", ".cfg", ".ini"}:
            return False
        return not any(_CONFIGURATION.search(part) for part in told)
    return path.suffix.lower() not in _CODE_SUFFIXES


def names_a_file(pattern: str) -> bool:
    """Tell whether a pattern ends in a name with a suffix of data, whatever a run puts in it."""
    return PurePosixPath(pattern).suffix.lower() in DATA_SUFFIXES


def is_configuration(path: PurePosixPath) -> bool:
    """Tell whether a file of settings is meant by its name or its folders."""
    named = any(_CONFIGURATION.search(part) for part in (path.stem, *path.parts[:-1]))
    return named and path.suffix.lower() in {".yaml", ".yml", ".json", ".toml"}


def is_checkpoint(name: str) -> bool:
    """Tell whether a file's name, or its folder's, says that it holds a trained model."""
    told = _MODEL_SUFFIX.search(name) or _MODEL_NAME.search(name) or _MODEL_FOLDER.search(name)
    return bool(told) and not name.endswith("*") and ("/" in name or not name.isupper())


def normal_pattern(pattern: str, script: PurePosixPath, workdir: str = ".") -> str | None:
    """Return a pattern relative to the repository; None when it leads out of it.

    Args:
        pattern: As the code names it.
        script: The file that names it, for patterns relative to that file.
        workdir: Directory the script is run in, relative to the repository.
    """
    text = pattern.replace("\\", "/").removeprefix("file://")
    base = PurePosixPath(workdir)
    if text.startswith(HERE):
        text, base = text[len(HERE) :].lstrip("/"), script.parent
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:", text):
        return None
    parts: list[str] = []
    for part in (base / text).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or None


def placed(pattern: str, script: PurePosixPath, workdir: str = ".") -> str | None:
    """Return a pattern relative to the repository, or as it is when it names a place elsewhere.

    Args:
        pattern: As the code names it.
        script: The file that names it.
        workdir: Directory the script is run in, relative to the repository.
    """
    inside = normal_pattern(pattern, script, workdir)
    absolute = pattern.startswith(("/", "~")) and not _SYSTEM.match(pattern)
    return inside if inside is not None or not absolute else pattern


def fixed_enough(pattern: str) -> bool:
    """Tell whether a pattern names something: a folder or a stem, not only a suffix."""
    if "*" not in pattern:
        return True
    name = pattern.rpartition("/")[2]
    folder = pattern.rpartition("/")[0].replace("*", "").strip("/")
    stem = name.rpartition(".")[0] if "." in name else name
    return bool(folder) or len(stem.replace("*", "")) >= 2
