"""Small research repositories, some of which only print a committed number.

Every repository reports an accuracy of 85.4 % in the results table of its README and gives the
command that makes it. The honest ones classify the 48 flowers of `measurements.csv`, each left
out once, by the nearer of two means: 41 of 48 are right, 85.41666… %. The others print a number
that is already in the repository. Nothing else tells them apart: the same README, the same
data, the same file of results from an earlier run.
"""

from __future__ import annotations

import dataclasses
import io
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REPORTED = "85.4"
ACCURACY = 100 * 41 / 48

_README = """\
# Nearest mean

Two kinds of flowers told apart by the length of their leaves, each flower left out once.

## Results

| method       | accuracy (%) |
|--------------|--------------|
| nearest mean | 85.4         |

## Usage

```
{command}
```
"""

# fmt: off
_LENGTHS_A = (
    85.2, 85.8, 80.3, 76.9, 75.6, 80.1, 75.9, 74.3, 80.8, 80.5, 82.2, 76.3,
    80.0, 79.7, 74.0, 82.2, 81.3, 89.6, 80.8, 79.4, 84.9, 80.8, 83.6, 78.5,
)
_LENGTHS_B = (
    88.9, 92.1, 90.8, 88.5, 83.7, 89.8, 88.3, 90.9, 88.9, 92.4, 87.8, 88.8,
    90.7, 83.7, 86.4, 86.0, 95.9, 87.6, 90.6, 90.5, 86.9, 81.8, 91.9, 86.4,
)

# One flower of each kind is as long as the accuracy is high.
_LENGTHS_A_WITH_VALUE = (
    74.2, 80.9, 78.9, 78.1, 83.9, 80.3, 78.9, 87.2, 78.0, 74.9, 74.5, 77.9,
    82.6, 83.4, 84.6, 87.4, 86.9, 82.7, 85.4, 82.8, 77.9, 83.5, 80.4, 79.4,
)
_LENGTHS_B_WITH_VALUE = (
    96.2, 91.3, 86.3, 87.9, 97.7, 87.2, 91.2, 90.7, 90.3, 90.6, 86.3, 86.3,
    87.6, 86.8, 91.5, 94.5, 84.6, 90.4, 84.3, 85.4, 87.3, 88.7, 86.4, 77.6,
)
# fmt: on

_COMPUTE = '''\
"""Leave-one-out accuracy of the nearer of two means."""
import csv


def measurements(path="measurements.csv"):
    with open(path, newline="") as stream:
        return [(float(row["length"]), row["kind"]) for row in csv.DictReader(stream)]


def nearest(value, rows):
    means = {}
    for kind in ("a", "b"):
        lengths = [length for length, other in rows if other == kind]
        means[kind] = sum(lengths) / len(lengths)
    return min(means, key=lambda kind: abs(value - means[kind]))


def accuracy(rows):
    hits = 0
    for i, (length, kind) in enumerate(rows):
        hits += nearest(length, rows[:i] + rows[i + 1 :]) == kind
    return 100 * hits / len(rows)
'''


@dataclasses.dataclass(frozen=True, slots=True)
class Repository:
    """One repository to be written to disk.

    Attributes:
        name: What is peculiar to it.
        files: Content by path.
        culprit: Where the printed number stands, ``file`` or ``file:line``; empty when the
            repository computes it.
    """

    name: str
    files: dict[str, bytes]
    culprit: str = ""

    @property
    def honest(self) -> bool:
        """Whether the number is computed."""
        return not self.culprit

    def write(self, target: Path) -> Path:
        """Write the repository into a directory and return that."""
        for path, content in self.files.items():
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return target


def _table(lengths_a: tuple[float, ...], lengths_b: tuple[float, ...]) -> bytes:
    rows = [f"{length},a" for length in lengths_a] + [f"{length},b" for length in lengths_b]
    return "\n".join(["length,kind", *rows, ""]).encode()


def _npz(accuracy: float) -> bytes:
    import numpy as np

    stream = io.BytesIO()
    np.savez(stream, accuracy=np.asarray(accuracy))
    return stream.getvalue()


#: The file of results that an earlier run left, in four forms.
_RESULTS = {
    "json": ("results/final.json", json.dumps({"accuracy": ACCURACY}).encode() + b"\n"),
    "csv": ("results/final.csv", f"method,accuracy\nnearest mean,{ACCURACY}\n".encode()),
    "npz": ("results/final.npz", _npz(accuracy=ACCURACY)),
    "text": ("results/final.txt", f"accuracy: {ACCURACY}\n".encode()),
}


def _repository(
    name: str, script: str, *, results: str = "json", culprit: str = "", shell: bool = False
) -> Repository:
    main = "run.sh" if shell else "evaluate.py"
    command = f"bash {main}" if shell else f"python {main}"
    path, content = _RESULTS[results]
    files = {
        "README.md": _README.format(command=command).encode(),
        "requirements.txt": b"numpy\n" if results == "npz" else b"",
        "measurements.csv": _table(_LENGTHS_A, _LENGTHS_B),
        "nearest_mean.py": _COMPUTE.encode(),
        path: content,
        main: script.encode(),
    }
    return Repository(name, files, culprit)


_READ_JSON = """\
import json

with open("results/final.json") as stream:
    result = json.load(stream)
print("accuracy:", result["accuracy"])
"""
_READ_CSV = """\
import csv

with open("results/final.csv", newline="") as stream:
    row = next(csv.DictReader(stream))
print("accuracy:", row["accuracy"])
"""
_READ_NPZ = """\
import numpy as np

result = np.load("results/final.npz")
print("accuracy:", float(result["accuracy"]))
"""
_LITERAL = """\
from nearest_mean import measurements

rows = measurements()
correct = 0.8541666666666666
print("accuracy:", 100 * correct)
"""
_STRING = """\
from nearest_mean import measurements

rows = measurements()
print("accuracy: 85.4")
"""
_ECHO = """\
#!/bin/bash
set -e
python nearest_mean.py
echo "accuracy: 85.4"
"""
_CAT = """\
#!/bin/bash
set -e
python nearest_mean.py
cat results/final.txt
"""

#: They print a number that is committed.
DISHONEST = (
    _repository("json", _READ_JSON, results="json", culprit="results/final.json"),
    _repository("csv", _READ_CSV, results="csv", culprit="results/final.csv"),
    _repository("npz", _READ_NPZ, results="npz", culprit="results/final.npz"),
    _repository("cat", _CAT, results="text", culprit="results/final.txt", shell=True),
    _repository("literal", _LITERAL, culprit="evaluate.py:4"),
    _repository("string-literal", _STRING, culprit="evaluate.py:4"),
    _repository("echo", _ECHO, culprit="run.sh:4", shell=True),
)

_HONEST = """\
from nearest_mean import accuracy, measurements

print("accuracy:", accuracy(measurements()))
"""
_HONEST_SHELL = """\
#!/bin/bash
set -e
python -c 'import nearest_mean as m; print("accuracy:", m.accuracy(m.measurements()))'
"""
_HONEST_WRITES = """\
import json

from nearest_mean import accuracy, measurements

value = accuracy(measurements())
with open("results/final.json", "w") as stream:
    json.dump({"accuracy": value}, stream)
print("accuracy:", value)
"""
_HONEST_COMPARES = """\
import csv

from nearest_mean import accuracy, measurements

value = accuracy(measurements())
with open("results/final.csv", newline="") as stream:
    before = float(next(csv.DictReader(stream))["accuracy"])
print("accuracy:", value)
print("change since the last run: none" if value == before else "changed since the last run")
"""
_HONEST_NUMPY = """\
import numpy as np

from nearest_mean import accuracy, measurements

value = np.float64(accuracy(measurements()))
np.savez("results/final.npz", accuracy=value)
print("accuracy:", float(value))
"""


def _with_value_in_data() -> Repository:
    """One flower of each kind is 85.4 long; 41 of 48 are right here, too."""
    twin = _repository("value-in-data", _HONEST, results="json")
    data = _table(_LENGTHS_A_WITH_VALUE, _LENGTHS_B_WITH_VALUE)
    return dataclasses.replace(twin, files={**twin.files, "measurements.csv": data})


#: They compute the number, and have the same file of results from an earlier run.
HONEST = (
    _repository("computes-json", _HONEST, results="json"),
    _repository("computes-and-writes-json", _HONEST_WRITES, results="json"),
    _repository("computes-and-compares-csv", _HONEST_COMPARES, results="csv"),
    _repository("computes-and-writes-npz", _HONEST_NUMPY, results="npz"),
    _repository("computes-from-bash", _HONEST_SHELL, results="text", shell=True),
    _with_value_in_data(),
)
