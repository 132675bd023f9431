"""Downloads: URLs and named data sets that calls and shell commands ask for."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.constants import dotted, path_pattern
from rra.scan.traits.objects import Download

_BY_URL = re.compile(
    r"(?:^|\.)(?:urlretrieve|urlopen|urllib2\.Request|request\.Request|requests\.(?:get|request)|"
    r"(?:session|client|httpx)\.(?:get|stream)|wget\.download|download_url|download_file|"
    r"download_and_extract_archive|load_state_dict_from_url|load_url|download_url_to_file|"
    r"get_file|pooch\.retrieve|gdown\.(?:download|cached_download|download_folder))$"
)
_READS_URL = re.compile(
    r"(?:^|\.)(?:read_(?:csv|table|json|excel|html|parquet|fwf)|genfromtxt|loadtxt)$"
)
_TORCHVISION = re.compile(r"(?:^|\.)datasets\.([A-Z]\w+)$")
_TORCHVISION_NAMES = frozenset(
    {"CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST", "SVHN", "STL10"}
    | {"USPS", "ImageNet", "CelebA", "CocoDetection", "VOCDetection", "VOCSegmentation", "Omniglot"}
    | {"Food101", "Flowers102", "OxfordIIITPet", "StanfordCars", "FGVCAircraft", "DTD", "LSUN"}
    | {"Caltech101", "Caltech256", "Places365", "SBDataset", "Cityscapes", "PCAM", "EuroSAT"}
)
_KERAS = re.compile(
    r"(?:^|\.)(mnist|fashion_mnist|cifar10|cifar100|imdb|reuters|boston_housing)\.load_data$"
)
_HUB = re.compile(r"(?:^|\.)(?:hf_hub_download|snapshot_download|from_pretrained|load_dataset)$")
_TFDS = re.compile(r"(?:^|\.)(?:tfds\.(?:load|builder)|tensorflow_datasets\.load)$")
_SKLEARN = re.compile(r"(?:^|\.)fetch_(\w+)$")
_URL = re.compile(r"(?:https?|ftp|s3|gs)://[^\s'\"<>)|;,]+")
_TOOLS = frozenset(
    {"wget", "curl", "aria2c", "axel", "gsutil", "aws", "rclone", "azcopy", "lwp-download"}
)
_COMMAND = re.compile(
    r"(?:^|[;&|(`]\s*|\bsudo\s+|\$\(\s*)(wget|curl|aria2c|axel|gsutil|aws|gdown|kaggle|"
    r"huggingface-cli|hf)\s+([^;&|)`]+)"
)


def python_downloads(
    tree: ast.Module, names: Mapping[str, str], path: PurePosixPath
) -> Iterator[Download]:
    """Yield what calls of a module bring from elsewhere.

    Args:
        tree: The module.
        names: Its constants that are texts.
        path: Its place in the repository.
    """
    urls = {**names, **_url_constants(tree)}
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torchvision")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            for what in _asked(node, name, urls, imported):
                yield Download(what, name, path, node.lineno)


def _asked(
    node: ast.Call, name: str, names: Mapping[str, str], imported: set[str]
) -> Iterator[str]:
    first = node.args[0] if node.args else _keyword(node, "url", "id", "name", "data_id", "repo_id")
    if name.rpartition(".")[2] == "get_file":
        first = _keyword(node, "origin") or (node.args[1] if len(node.args) > 1 else None)
    if name.endswith("gdown.download_folder") or "gdown" in name:
        identifier = _literal(_keyword(node, "id"))
        if identifier:
            yield f"gdown {identifier}"
            return
    if _BY_URL.search(name) or _READS_URL.search(name):
        url = _url(first, names)
        if url:
            yield url
        elif "gdown" in name and _literal(first):
            yield f"gdown {_literal(first)}"
        return
    yield from _named(node, name, first, imported)


def _named(node: ast.Call, name: str, first: ast.expr | None, imported: set[str]) -> Iterator[str]:
    """Yield the catalogue and the name there, of calls that name no URL."""
    vision, keras = _TORCHVISION.search(name), _KERAS.search(name)
    if (vision and vision[1] in _TORCHVISION_NAMES) or name in imported & _TORCHVISION_NAMES:
        yield f"torchvision {name.rpartition('.')[2]}"
    elif keras:
        yield f"keras {keras[1]}"
    elif _TFDS.search(name) and _literal(first):
        yield f"tfds {_literal(first)}"
    elif name.endswith("hub.load") and _literal(first):
        model = _literal(node.args[1]) if len(node.args) > 1 else ""
        yield f"torch.hub {_literal(first)} {model}".rstrip()
    elif _HUB.search(name):
        text = _literal(first)
        if text and not text.startswith((".", "/", "~")) and text not in {"csv", "json", "text"}:
            yield f"huggingface {text}"
    elif _SKLEARN.search(name):
        what = name.rpartition("fetch_")[2]
        named = _literal(_keyword(node, "name", "data_id") or first) if what == "openml" else ""
        yield f"openml {named}".rstrip() if what == "openml" else f"sklearn {what}"
    elif name.endswith("get_rdataset") and _literal(first):
        yield f"rdatasets {_literal(first)}"


def _url_constants(tree: ast.Module) -> dict[str, str]:
    """Return names that are assigned a URL anywhere, once."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = path_pattern(node.value, found)
            if text and _URL.match(text):
                found.setdefault(node.targets[0].id, text)
    return found


def _url(node: ast.expr | None, names: Mapping[str, str]) -> str:
    text = path_pattern(node, names) if node is not None else None
    return text if text and _URL.match(text) else ""


def _keyword(node: ast.Call, *names: str) -> ast.expr | None:
    return next((k.value for name in names for k in node.keywords if k.arg == name), None)


def _literal(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return str(node.value)
    return ""


def shell_downloads(text: str, path: PurePosixPath) -> Iterator[Download]:
    """Yield what commands of a shell script or document bring from elsewhere."""
    joined = re.sub(r"\\\n", "  ", text)
    for number, line in enumerate(joined.split("\n"), start=1):
        plain = line.strip().lstrip("$>!% ")
        if not plain.startswith("#"):
            for found in _COMMAND.finditer(plain):
                for what in _fetched(found[1], found[2]):
                    yield Download(what, found[1], path, number)


def command_downloads(text: str) -> Iterator[tuple[str, str]]:
    """Yield (what, tool) of one command."""
    for found in _COMMAND.finditer(text.strip()):
        for what in _fetched(found[1], found[2]):
            yield what, found[1]


def _fetched(tool: str, rest: str) -> Iterator[str]:
    urls = _URL.findall(rest)
    if urls or tool in _TOOLS:
        yield from dict.fromkeys(urls)
        return
    try:
        words = [word for word in shlex.split(rest) if word]
    except ValueError:
        words = rest.split()
    plain = [word for word in words if not word.startswith("-")]
    if tool == "gdown" and plain:
        yield f"gdown {plain[0]}"
    elif tool in {"huggingface-cli", "hf"} and plain[:1] == ["download"] and len(plain) > 1:
        yield f"huggingface {plain[1]}"
    elif tool == "kaggle" and len(words) > 2 and "download" in words:
        named = [word for word in plain if word not in {"datasets", "competitions", "download"}]
        yield f"kaggle {named[0]}" if named else "kaggle"


def text_downloads(text: str, path: PurePosixPath) -> Iterator[Download]:
    """Yield the downloads of Python code that cannot be parsed: URLs inside known calls."""
    call = re.compile(
        r"(\b[\w.]*(?:urlopen|urlretrieve|requests\.get|Request))\s*\(\s*['\"]([^'\"]+)"
    )
    for found in call.finditer(text):
        if _URL.match(found[2]):
            yield Download(found[2], found[1], path, text.count("\n", 0, found.start()) + 1)
