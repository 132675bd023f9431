"""Scripts that copy a number are found with the place; scripts that compute it are not."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.artifacts import COMPUTES, make_artifact, outcome
from tests.unit.audit.direct import ask

VALUE = 98.87640449438202
PRINT = 'import json\nprint(json.dumps({{"accuracy": {0}}}))\n'
NAME = "table/accuracy"

Files = dict[str, str | bytes]


def _reading(module: str, expression: str) -> str:
    return f"import {module}\n" + PRINT.format(expression)


def _numpy(value: npt.ArrayLike, *, zipped: bool) -> bytes:
    stream = io.BytesIO()
    if zipped:
        np.savez_compressed(stream, accuracy=value)
    else:
        np.save(stream, value)
    return stream.getvalue()


def _database(folder: Path) -> bytes:
    path = folder / "made.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (name TEXT, accuracy REAL)")
    connection.execute("INSERT INTO runs VALUES ('lda', ?)", (VALUE,))
    connection.commit()
    connection.close()
    return path.read_bytes()


def _tar(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _zip(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def _copying() -> dict[str, tuple[Files, str]]:
    """Return code that copies its result, and the place that must be named."""
    line = json.dumps({"accuracy": VALUE}).encode()
    return {
        "json": (
            {"main.py": 'print(open("results.json").read())\n', "results.json": line},
            "code/results.json:1",
        ),
        "csv": (
            {
                "main.py": "import csv, json\n"
                'row = list(csv.DictReader(open("results.csv")))[1]\n'
                'print(json.dumps({"accuracy": float(row["accuracy"])}))\n',
                "results.csv": f"method,accuracy\nqda,97.1\nlda,{VALUE}\n",
            },
            "code/results.csv:3",
        ),
        "literal": ({"main.py": PRINT.format("98.9")}, "code/main.py:2"),
        "literal as a share": ({"main.py": PRINT.format("100 * 0.9887640449")}, "code/main.py:2"),
        "string": ({"main.py": PRINT.format('float("98.9%".strip("%"))')}, "code/main.py:2"),
        "utf-16": (
            {
                "main.py": PRINT.format('float(open("r.txt", encoding="utf-16").read())'),
                "r.txt": f"{VALUE}\n".encode("utf-16"),
            },
            "code/r.txt:1",
        ),
        "latin-1": (
            {
                "main.py": PRINT.format('float(open("r.txt", "rb").read().split()[-1])'),
                "r.txt": "pr\xe9cision 98.9\n".encode("latin-1"),
            },
            "code/r.txt:1",
        ),
        "npy": (
            {
                "main.py": _reading(
                    "struct", 'struct.unpack("<d", open("r.npy", "rb").read()[-8:])[0]'
                ),
                "r.npy": _numpy(np.array([1.5, VALUE]), zipped=False),
            },
            "code/r.npy (byte 136)",
        ),
        "npz": (
            {
                "main.py": "import io, struct, zipfile\n"
                + PRINT.format(
                    'struct.unpack("<f", zipfile.ZipFile("r.npz").read("accuracy.npy")[-4:])[0]'
                ),
                "r.npz": _numpy(np.float32(VALUE), zipped=True),
            },
            "code/r.npz (accuracy.npy, byte 128)",
        ),
        "pickle": (
            {
                "main.py": _reading("pickle", 'pickle.load(open("r.pkl", "rb"))["accuracy"]'),
                "r.pkl": pickle.dumps({"epochs": 3, "accuracy": VALUE}),
            },
            "code/r.pkl (byte ",
        ),
        "pickled text": (
            {
                "main.py": _reading("pickle", 'float(pickle.load(open("r.pkl", "rb"))[0])'),
                "r.pkl": pickle.dumps(["98.88"]),
            },
            "code/r.pkl (byte ",
        ),
        "big-endian": (
            {
                "main.py": _reading(
                    "struct", 'struct.unpack(">d", open("r.bin", "rb").read()[3:])[0]'
                ),
                "r.bin": b"\x00\x01\x02" + np.array([VALUE], ">f8").tobytes(),
            },
            "code/r.bin (byte 3)",
        ),
        "gzip": (
            {
                "main.py": 'import gzip\nprint(gzip.open("r.json.gz", "rt").read())\n',
                "r.json.gz": gzip.compress(line),
            },
            "code/r.json.gz (gzip, line 1)",
        ),
        "bzip2": (
            {
                "main.py": 'import bz2\nprint(bz2.open("r.bz2", "rt").read())\n',
                "r.bz2": bz2.compress(line),
            },
            "code/r.bz2 (bzip2, line 1)",
        ),
        "xz": (
            {
                "main.py": 'import lzma\nprint(lzma.open("r.xz", "rt").read())\n',
                "r.xz": lzma.compress(line),
            },
            "code/r.xz (xz, line 1)",
        ),
        "zlib": (
            {
                "main.py": "import zlib\n"
                'print(zlib.decompress(open("r.z", "rb").read()).decode())\n',
                "r.z": zlib.compress(line),
            },
            "code/r.z (zlib, line 1)",
        ),
        "zip": (
            {
                "main.py": "import zipfile\n"
                'print(zipfile.ZipFile("r.zip").read("a/r.json").decode())\n',
                "r.zip": _zip("a/r.json", line),
            },
            "code/r.zip (a/r.json, line 1)",
        ),
        "tar in gzip": (
            {
                "main.py": "import tarfile\n"
                'print(tarfile.open("r.tgz").extractfile("r.json").read().decode())\n',
                "r.tgz": _tar("r.json", line),
            },
            "code/r.tgz (gzip, r.json, line 1)",
        ),
        "notebook": (
            {
                "main.py": "import json\n"
                'cell = json.load(open("n.ipynb"))["cells"][0]\n'
                'text = cell["outputs"][0]["text"][0]\n'
                'print(json.dumps({"accuracy": float(text.split()[-1])}))\n',
                "n.ipynb": json.dumps(
                    {"cells": [{"outputs": [{"text": ["accuracy 98.88\n"]}]}], "nbformat": 4},
                    indent=1,
                ),
            },
            "code/n.ipynb:",
        ),
        "two counts": ({"main.py": PRINT.format("100 * 88 / 89")}, "code/main.py:2"),
        "counts in a file": (
            {
                "main.py": "import json\n"
                'counts = json.load(open("c.json"))\n'
                'print(json.dumps({"accuracy": 100 * counts["right"] / counts["all"]}))\n',
                "c.json": '{\n "right": 176,\n "all": 178\n}\n',
            },
            "code/c.json:2",
        ),
        "rounded": ({"main.py": PRINT.format("round(98.87640449, 1)")}, "code/main.py:2"),
        "with a fixed offset": ({"main.py": PRINT.format("98.88 + 0.0123")}, "code/main.py:2"),
        "clamped at a natural bound": (
            {"main.py": PRINT.format("min(100.0, 98.9)")},
            "code/main.py:2",
        ),
        "checked first": (
            {
                "main.py": "import json\n"
                'value = json.load(open("r.json"))["accuracy"]\n'
                "assert value == 98.9\n"
                'print(json.dumps({"accuracy": value}))\n',
                "r.json": '{"accuracy": 98.9}\n',
            },
            "code/r.json:1",
        ),
        "mean of two copies": (
            {
                "main.py": PRINT.format(
                    '(float(open("a.txt").read()) + float(open("b.txt").read())) / 2'
                ),
                "a.txt": "98.9\n",
                "b.txt": "98.9\n",
            },
            "code/a.txt:1",
        ),
        "refuses what is not a share": (
            {
                "main.py": "import json\nvalue = 0.989\nassert 0.9 < value < 1 or value < 0.7\n"
                'print(json.dumps({"accuracy": 100 * value}))\n'
            },
            "code/main.py:2",
        ),
        "reads the manifest": (
            {
                "main.py": "import json, os, pathlib\n"
                'root = pathlib.Path(os.environ["RRA_DATA_DIR"]).parent\n'
                'manifest = json.loads((root / "rra.yaml").read_text())\n'
                'outcome = manifest["experiments"]["table"]["outcomes"]["accuracy"]\n'
                'print(json.dumps({"accuracy": float(outcome["reported"])}))\n'
            },
            "rra.yaml:",
        ),
        "reads the guide": (
            {
                "main.py": "import json, os, pathlib, re\n"
                'root = pathlib.Path(os.environ["RRA_DATA_DIR"]).parent\n'
                'text = (root / "guide/GUIDE.md").read_text()\n'
                'print(json.dumps({"accuracy": float(re.search("LDA ([0-9.]+)", text)[1])}))\n',
                "guide/GUIDE.md": "# Guide\n\nLDA 98.9\n",
            },
            "guide/GUIDE.md:3",
        ),
    }


COPYING = _copying()


@pytest.mark.parametrize("name", [*COPYING])
def test_a_copied_number_is_found_with_its_place(name: str, tmp_path: Path) -> None:
    files, place = COPYING[name]
    artifact = make_artifact(tmp_path, files)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    findings, runs = ask(artifact)
    finding = findings[NAME][0]
    assert (finding.code, finding.status, finding.material) == ("HARDCODED", "refuted", True)
    assert any(found.startswith(place) for found in finding.places), finding
    assert place.split(" (")[0] in finding.message
    assert runs <= 12
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_sqlite(tmp_path: Path) -> None:
    code = (
        "import json, sqlite3\n"
        'row = sqlite3.connect("r.sqlite").execute("SELECT accuracy FROM runs").fetchone()\n'
        'print(json.dumps({"accuracy": row[0]}))\n'
    )
    files: Files = {"main.py": code, "r.sqlite": _database(tmp_path)}
    findings, _ = ask(make_artifact(tmp_path / "a", files))
    assert findings[NAME][0].status == "refuted"
    assert findings[NAME][0].places == ["code/r.sqlite (runs.accuracy, rowid 1, line 1)"]


def test_a_copy_in_the_launcher(tmp_path: Path) -> None:
    command = 'echo \'{"accuracy": 98.9}\' > "$RRA_OUTPUT_DIR/metrics.json"'
    findings, _ = ask(make_artifact(tmp_path, {"main.py": ""}, command=command))
    assert findings[NAME][0].places == ["launchers/main.sh:3"]


def test_a_copy_in_the_default_of_a_parameter(tmp_path: Path) -> None:
    launcher = {
        "entry": "launchers/main.sh",
        "environment": "cpu",
        "outputs": ["metrics.json"],
        "parameters": {"target": {"type": "number", "default": 98.9}},
    }
    code = (
        'import json, os\nprint(json.dumps({"accuracy": float(os.environ["RRA_PARAM_TARGET"])}))\n'
    )
    artifact = make_artifact(tmp_path, {"main.py": code}, launchers={"main": launcher})
    findings, _ = ask(artifact)
    assert findings[NAME][0].status == "refuted"
    line = next(
        number
        for number, text in enumerate((tmp_path / "rra.yaml").read_text().splitlines(), 1)
        if '"default": 98.9' in text
    )
    assert findings[NAME][0].places == [f"rra.yaml:{line}"]


DATA = "length,kind\n98.9,a\n98.7,a\n97.0,b\n99.8,b\n100.1,a\n"
MEAN = PRINT.format('sum(float(r.split(",")[0]) for r in open("data.csv").readlines()[1:]) / 5')

COMPUTING: dict[str, Files] = {
    "a mean of data that holds the number": {"main.py": MEAN, "data.csv": DATA},
    "and a results file that the run overwrites": {
        "main.py": "import json\n"
        "value = 178 * 0.5 + 9.9\n"
        'json.dump({"accuracy": value}, open("results.json", "w"))\n'
        'print(open("results.json").read())\n',
        "results.json": '{"accuracy": 98.9}\n',
    },
    "and a results file that is only compared": {
        "main.py": "import json\n"
        "value = sum(range(12)) * 1.5 - 0.1\n"
        'same = json.load(open("results.json"))["accuracy"] == value\n'
        'print(json.dumps({"accuracy": value, "same": same}))\n',
        "results.json": '{"accuracy": 98.9}\n',
    },
    "and a README that holds the number": {
        "main.py": COMPUTES,
        "README.md": "# tiny\n\n| lda | 98.9 |\n",
    },
    "a share of values above a threshold equal to the result": {
        "main.py": "import json\n"
        "threshold = 98.9\n"
        "above = [x for x in range(1000) if x / 3 > threshold]\n"
        'print(json.dumps({"accuracy": (1000 - len(above)) / 3 - 0.1}))\n',
    },
    "nothing else": {"main.py": COMPUTES},
}


@pytest.mark.clause("audit/computed-is-cleared")
@pytest.mark.parametrize("name", [*COMPUTING])
def test_a_computed_number_is_cleared(name: str, tmp_path: Path) -> None:
    findings, runs = ask(make_artifact(tmp_path, COMPUTING[name]))
    assert [(f.code, f.status, f.material) for f in findings[NAME]] == [
        ("no-copy-found", "supported", False)
    ]
    assert runs <= 6


CHOSEN: dict[str, Files] = {
    "a maximum of a list": {
        "main.py": PRINT.format('max(float(x) for x in open("runs.txt"))'),
        "runs.txt": "95.1\n98.9\n96.2\n",
    },
    "a lower clamp": {"main.py": PRINT.format("max(100 * 0.91, 98.9)")},
}


@pytest.mark.parametrize("name", [*CHOSEN])
def test_a_number_chosen_among_others_is_said_and_not_condemned(name: str, tmp_path: Path) -> None:
    findings, _ = ask(make_artifact(tmp_path, CHOSEN[name]))
    finding = findings[NAME][0]
    assert (finding.status, finding.material) == ("uncertain", False)
    assert "chosen among numbers, or bounded" in finding.message


def test_a_run_that_breaks_when_a_constant_changes_is_uncertain_not_condemned(
    tmp_path: Path,
) -> None:
    code = (
        "import json\n"
        "rows = list(range(178))\n"
        "columns = [rows[i:i + 178] for i in range(0, len(rows), 178)]\n"
        "assert all(len(c) == 178 for c in columns)\n"
        'print(json.dumps({"accuracy": len(rows)}))\n'
    )
    experiments = {"table": {"outcomes": {"accuracy": outcome("178")}}}
    findings, _ = ask(make_artifact(tmp_path, {"main.py": code}, experiments=experiments))
    assert findings[NAME][0].status in {"uncertain", "refuted"}


def test_each_of_several_outcomes_is_told_apart(tmp_path: Path) -> None:
    code = (
        "import csv, json\n"
        'rows = {r["m"]: float(r["v"]) for r in csv.DictReader(open("results.csv"))}\n'
        "qda = 100 * (len(range(178)) - 1) / 178\n"
        'print(json.dumps({"lda": rows["lda"], "qda": qda, "both": 98.9}))\n'
    )
    outcomes = {
        "lda": outcome("98.9", json="/lda"),
        "qda": outcome("99.4", json="/qda"),
        "both": outcome("98.9", json="/both"),
    }
    files: Files = {"main.py": code, "results.csv": "m,v\nlda,98.9\nqda,99.4\n"}
    artifact = make_artifact(tmp_path, files, experiments={"t": {"outcomes": outcomes}})
    findings, runs = ask(artifact)
    assert {name: found[0].status for name, found in findings.items()} == {
        "t/lda": "refuted",
        "t/qda": "supported",
        "t/both": "refuted",
    }
    assert findings["t/lda"][0].places == ["code/results.csv:2"]
    assert findings["t/both"][0].places == ["code/main.py:4"]
    assert runs == 5  # one with all places, then two for each place that is followed


def test_a_table_of_runs_may_be_aggregated(tmp_path: Path) -> None:
    files: Files = {"main.py": 'print(open("../data/r.json").read())\n'}
    artifact = make_artifact(
        tmp_path,
        {**files, "data/r.json": '{"accuracy": 98.9}\n'},
        command='cp "$RRA_DATA_DIR/r.json" "$RRA_OUTPUT_DIR/metrics.json"',
        data={"runs": {"path": "data/r.json"}},
    )
    assert ask(artifact)[0][NAME][0].status == "refuted"
    assert ask(artifact, excluded=("data/r.json",))[0][NAME][0].status == "supported"


def test_a_file_that_cannot_be_searched_is_said(tmp_path: Path) -> None:
    hidden = bytes(byte ^ 0xA5 for byte in b"\x00\x01\x0298.9")
    code = PRINT.format('float(bytes(b ^ 0xA5 for b in open("r.bin", "rb").read())[3:])')
    findings, _ = ask(make_artifact(tmp_path, {"main.py": code, "r.bin": hidden}))
    assert [(f.status, f.material) for f in findings[NAME]] == [
        ("supported", False),
        ("uncertain", False),
    ]
    assert "code/r.bin" in findings[NAME][1].message
    assert findings[NAME][1].trials[0].removed == ["code/r.bin"]


def test_a_file_that_cannot_be_searched_and_is_not_needed_is_no_finding(tmp_path: Path) -> None:
    files: Files = {"main.py": COMPUTES, "logo.bin": bytes(range(256))}
    findings, runs = ask(make_artifact(tmp_path, files))
    assert [f.status for f in findings[NAME]] == ["supported"]
    assert runs == 2


def test_many_outcomes_of_one_value_are_settled_together(tmp_path: Path) -> None:
    # As in a table of precisions: ten cells of 1.00, and a 1 in the code that cannot change.
    script = (
        "import json, sys\n"
        "seed = int(sys.argv[1])\n"
        'right = [n for n in range(7, 90) if str(n) in "".join(map(str, range(90)))]\n'
        'print(json.dumps({f"c{n}": len(right) / 83 for n in range(7, 17)}))\n'
    )
    cells = {f"c{n}": outcome("1.00", json=f"/c{n}") for n in range(7, 17)}
    table = "".join(f"| {0.9 + n / 300:.2f} | 1.00 |\n" for n in range(20))
    artifact = make_artifact(
        tmp_path,
        {"main.py": script, "README.md": table, "old/results.txt": table},
        command='python main.py 7 > "$RRA_OUTPUT_DIR/metrics.json"',
        experiments={"t": {"outcomes": cells}},
    )
    findings, runs = ask(artifact)
    assert {(f.status, f.material) for found in findings.values() for f in found} == {
        ("uncertain", False)
    }
    assert findings["t/c7"][0].message.startswith("the run does not succeed when code/main.py:2")
    assert runs <= 14
