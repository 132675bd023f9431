"""Which files Python code reads and writes, as far as its text tells."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping

from rra.scan.constants import dotted, path_pattern
from rra.scan.filenames import is_checkpoint, names_a_file
from rra.scan.marks import is_marked
from rra.scan.objects import FileUse
from rra.scan.scopes import LocalCall, Scope, Walk, glob_patterns

_READ_FIRST = re.compile(
    r"(?:^|\.)(?:load|loadtxt|genfromtxt|fromfile|loadmat|read_(?:csv|table|json|excel|pickle|"
    r"parquet|hdf|fwf|feather|stata|sas|spss|xml|orc|file|h5ad|mtx|10x\w*|raw\w*|image|edgelist|"
    r"gml|graphml|adjlist|geojson)|imread|load_svmlight_file|read_text|memmap|loadarff|scan_csv|"
    r"scan_parquet|open_dataset|open_mfdataset|open_zarr|load_from_disk|load_word2vec_format|"
    r"unpack_archive|TextLineDataset|TFRecordDataset|VideoCapture|SDMolSupplier|open_memmap|"
    r"getdata|list_files|open_file)$|"
    r"(?:^|\.)(?:rasterio|tarfile|Image|fits|fiona|wave|laspy|openslide|pyfits|uproot)\.open$|"
    r"(?:^|\.)(?:SeqIO|AlignIO|NexusIO|Phylo)\.(?:parse|read)$|"
    r"(?:^|\.)(?:sf|soundfile|wavfile|sitk|sio|ase\.io|io)\.read(?:_\w+)?$|"
    r"(?:^|\.)(?:netCDF4\.Dataset|Dataset\.from_file|ImageFolder|DatasetFolder)$"
)
_WRITE_FIRST = re.compile(
    r"(?:^|\.)(?:save|savez|savez_compressed|savetxt|savemat|savefig|imsave|imwrite|tofile|mimsave|"
    r"mimwrite|volwrite|to_(?:csv|json|excel|pickle|parquet|hdf|latex|html|markdown|feather|stata|"
    r"netcdf|zarr|file|xml|disk|gpickle)|write_(?:csv|parquet|h5ad|json|ipc|image|html|file|png)|"
    r"save_model|save_weights|save_pretrained|export_text|save_to_disk|FileHandler|writeto|"
    r"ExcelWriter|PdfPages|VideoWriter|RotatingFileHandler|save_word2vec_format|save_npz|sink_csv|"
    r"export_graphviz|dump_svmlight_file)$|"
    r"(?:^|\.)(?:sf|soundfile|wavfile|ase\.io)\.write$"
)
_WRITE_SECOND = re.compile(
    r"(?:^|\.)(?:torch\.save|joblib\.dump|nib\.save|save_image|write_(?:gml|graphml|edgelist|table|"
    r"gexf|gpickle)|urlretrieve|gdown\.download|wget\.download|save_file|sitk\.WriteImage|"
    r"SeqIO\.write|onnx\.save|onnx\.export|tree_to_file|pickle_dump)$"
)
_READER_NAME = re.compile(
    r"^(?:load$|(?:read|load|open|import|parse|scan|get|fetch|ingest)(?:_|[A-Z]))"
)
_READER_CLASS = re.compile(r"(?:Dataset|Reader|Folder|Corpus|Supplier|DataModule|Loader)$")
_WRITER_NAME = re.compile(
    r"^(?:retrieve$|(?:write|save|dump|export|store|to|download)(?:_|[A-Z]|$))"
)
_NO_FILES = re.compile(
    r"^(?:importlib|os\.environ|torch\.hub|spacy|nltk|hydra|logging\.getLogger|re|webbrowser|"
    r"requests|urllib|subprocess|plt\.style|sys\.path|pkg_resources|hub)\b|"
    r"(?:^|\.)(?:from_pretrained|add_argument|get_logger|get_logger|parse_args|parse|getenv)$"
)
_PATH_KEYWORDS = frozenset(
    {"file", "fname", "path", "filename", "filepath", "filepath_or_buffer", "path_or_buf", "root"}
    | {"file_path", "file_name", "data_files", "data_file", "data_path", "io", "f", "fp", "out"}
    | {"output", "save_path", "output_path", "out_path", "out_file", "source", "csv_file"}
)
_METHODS_READ = frozenset({"read_text", "read_bytes"})
_METHODS_WRITE = frozenset({"write_text", "write_bytes"})
_OPENERS = frozenset(
    {"open", "File", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "xopen"}
    | {"smart_open.open", "fsspec.open", "tf.io.gfile.GFile", "tf.gfile.Open", "GFile", "FileInput"}
)
_MOVES = frozenset({"os.rename", "os.replace", "shutil.move", "shutil.copy", "shutil.copy2"})
_MOVES |= {"shutil.copyfile"}
_GLOBS = frozenset({"glob.glob", "glob.iglob", "glob", "iglob"})
_OPENING_MODULES = tuple(
    f"{name}.open"
    for name in ("os", "Image", "webbrowser", "rasterio", "tarfile", "fits", "fiona", "wave")
)
_MAX_USES = 2_000


@dataclasses.dataclass(frozen=True)
class FileUses:
    """The files that one module reads and writes.

    Attributes:
        reads: Files that calls read.
        writes: Files that calls write.
        calls: Calls of functions of other modules, with what they are given.
    """

    reads: tuple[FileUse, ...] = ()
    writes: tuple[FileUse, ...] = ()
    calls: tuple[LocalCall, ...] = ()


def file_uses(
    tree: ast.Module,
    names: Mapping[str, str],
    imported: Mapping[str, str],
    incoming: Mapping[str, list[LocalCall]],
) -> FileUses:
    """Return the files that the calls of a module read and write.

    Args:
        tree: The module.
        names: Constants of the module that hold paths.
        imported: Names that it imports, and what they stand for: ``package.module.name``.
        incoming: Calls that other modules make, by the function's name.
    """
    found: dict[tuple[str, bool, int], None] = {}

    def tell(node: ast.Call, scope: Scope) -> None:
        for expression, written in _uses(node):
            for pattern in scope.patterns(expression) if len(found) < _MAX_USES else ():
                if "\n" not in pattern and len(pattern) < 400 and "://" not in pattern:
                    found[pattern, written, node.lineno] = None
        for pattern in _folders(node, scope):
            found[pattern, False, node.lineno] = None

    walk = Walk(Scope(names, imported), tell, incoming)
    try:
        calls = walk.start(tree)
    except RecursionError:
        calls = []
    uses = [(FileUse(pattern, line), written) for pattern, written, line in found]
    uses.sort(key=lambda one: one[0].line)
    return FileUses(
        tuple(use for use, written in uses if not written),
        tuple(use for use, written in uses if written),
        tuple(calls),
    )


def _folders(node: ast.Call, scope: Scope) -> list[str]:
    """Return the folders or files that a call lists."""
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    if name in {"os.listdir", "os.scandir", "os.walk"}:
        return [pattern for one in node.args[:1] for pattern in scope.patterns(one)]
    if name in _GLOBS or (last in {"glob", "rglob", "iterdir"} and last != name):
        return [pattern for pattern in glob_patterns(node, scope) if "/" in pattern]
    return []


def existence_checks(tree: ast.AST, names: Mapping[str, str]) -> tuple[FileUse, ...]:
    """Return the files whose existence a module asks for.

    Args:
        tree: The module.
        names: Constants of the module that hold paths.
    """
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        expression: ast.AST | None = None
        if re.search(r"(?:^|\.)path\.(?:exists|isfile)$", dotted(node.func)) and node.args:
            expression = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in {"exists", "is_file"}:
            expression = node.func.value
        pattern = path_pattern(expression, names)
        if pattern is not None:
            found.append(FileUse(pattern, node.lineno))
    return tuple(found)


def _uses(node: ast.Call) -> Iterator[tuple[ast.AST, bool]]:
    """Yield (path expression, whether it is written) of one call."""
    name = dotted(node.func)
    if isinstance(node.func, ast.Attribute):
        method, owner = node.func.attr, node.func.value
        if method in _METHODS_READ | _METHODS_WRITE:
            yield owner, method in _METHODS_WRITE
            return
        if method == "open" and (name == "open" or not _is_module(name)):
            yield owner, _is_write(node.args[0] if node.args else _keyword(node, "mode"))
            return
    if _WRITE_SECOND.search(name) or name in _MOVES:
        first = node.args[:1] if name in _MOVES else []
        yield from ((one, False) for one in first)
        second = node.args[1] if len(node.args) > 1 else _keyword(node, "output", "out", "filename")
        if second is not None:
            yield second, True
        return
    first_argument = node.args[0] if node.args else _keyword(node, *_PATH_KEYWORDS)
    if name.endswith("basicConfig"):
        first_argument = _keyword(node, "filename")
        yield from [(first_argument, True)] if first_argument is not None else []
    elif first_argument is None or _NO_FILES.search(name):
        return
    elif name in _OPENERS or name.endswith(("h5py.File", "ZipFile", "HDFStore", "GFile")):
        mode = node.args[1] if len(node.args) > 1 else _keyword(node, "mode")
        yield first_argument, _is_write(mode)
    else:
        yield from _by_name(node, name, first_argument)


def _by_name(node: ast.Call, name: str, first: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    method = node.func.attr if isinstance(node.func, ast.Attribute) else name
    if _WRITE_FIRST.search(name) or _WRITE_FIRST.search(method):
        yield first, True
        behind = path_pattern(node.args[1], {}) if len(node.args) > 1 else None
        if behind is not None and "/" in behind:
            yield node.args[1], True  # saver.save(session, path)
    elif _READ_FIRST.search(name) or name.endswith("Image.open"):
        yield first, False
    elif _WRITER_NAME.match(method):
        yield from ((one, True) for one in _that_name_files(node))
    elif _READER_NAME.match(method) or _READER_CLASS.search(method):
        yield from ((one, False) for one in _that_name_files(node))
    elif method[:1].isupper():  # an object that is made of a file: COCO("data/val.json")
        named = ((one, path_pattern(one, {})) for one in _that_name_files(node))
        yield from ((one, False) for one, pattern in named if pattern and "/" in pattern)


def _that_name_files(node: ast.Call) -> Iterator[ast.AST]:
    """Yield arguments that name a file by themselves: texts and formats that end in a suffix."""
    keywords = [k.value for k in node.keywords if k.arg in _PATH_KEYWORDS]
    for one in (*node.args[:3], *keywords):
        for inner in _choices(one):
            pattern = path_pattern(inner, {})
            told = pattern is not None and not is_marked(pattern)
            if told and pattern and (names_a_file(pattern) or is_checkpoint(pattern)):
                yield inner


def _choices(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that one may come to: both of a condition, all of a dictionary."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Dict):
        return node.values
    return [node] if isinstance(node, ast.expr) else []


def _is_module(name: str) -> bool:
    return name in _OPENERS or name.endswith(_OPENING_MODULES)


def _keyword(node: ast.Call, *names: str) -> ast.AST | None:
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    return None


def _is_write(mode: ast.AST | None) -> bool:
    text = mode.value if isinstance(mode, ast.Constant) else "r"
    return isinstance(text, str) and any(letter in text for letter in "wax+")
