"""What a lock says about why it holds what it holds."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from rra import api
from rra.artifact import Artifact
from rra.environment import lock_environment
from rra.environment.why import read_annotations
from rra.model import Environment
from tests.unit.environment.conftest import PYTHON
from tests.unit.environment.toy_index import ToyIndex


def test_each_version_leads_back_to_a_line_of_a_file(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    index.add_wheel("seaborn", "1.0", "2020-01-01", requires=["alpha"])
    (root / "code" / "requirements.txt").write_text("# first\nalpha<2\n")
    (root / "code" / "main.py").write_text("import alpha\nimport seaborn\n")
    artifact('as_of: "2024-01-01"')
    api.lock(root)
    facts = tomllib.loads((root / "environment/cpu/pylock.toml").read_text())["tool"]["rra"]
    assert facts["manifest"] == "requirements.txt"
    assert facts["manifest-why"] == (
        "requirements.txt: it alone names packages, and pins no version"
    )
    assert facts["as-of-why"] == "as_of in rra.yaml"
    assert facts["python-why"] == "python in rra.yaml"
    assert facts["why"] == {
        "alpha": {
            "requirement": "alpha<2",
            "place": "requirements.txt:2",
            "required-by": ["seaborn"],
        },
        "beta": {"required-by": ["alpha"]},
        "seaborn": {"requirement": "seaborn", "place": "import"},
    }


def test_the_reason_of_a_day_stays_where_no_history_tells_it(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    artifact('as_of: "2024-01-01", requirements: [alpha]')
    api.lock(root, as_of="2024-01-01")
    lock = root / "environment/cpu/pylock.toml"
    before = lock.read_bytes()
    assert b'as-of-why = "asked for with --as-of"' in before
    api.lock(root)
    assert lock.read_bytes() == before


def test_no_requirement_brings_a_password_into_the_lock(index: ToyIndex, root: Path) -> None:
    name = index.add_wheel("gamma", "1.0", "2020-01-01")
    base = index.url.removesuffix("/simple").replace("://", "://somebody:s3cret@")
    env = Environment(kind="pylock", python=PYTHON, platforms=["linux-x86_64"])
    lock_environment(root, "cpu", env, [f"gamma @ {base}/files/{name}"], as_of=None)
    written = b"".join(p.read_bytes() for p in root.rglob("*") if p.is_file())
    assert b"gamma @ http://127.0.0.1" in written
    assert b"s3cret" not in written
    assert b"somebody" not in written


def test_annotations_of_both_styles_are_read() -> None:
    text = (
        "alpha==1.0\n    # via -r requirements.in\n"
        "Beta-X[cli]==2.0 ; python_version < '3'\n    # via\n    #   -r requirements.in\n"
        "    #   Alpha\n    #   gam.ma\n"
    )
    assert read_annotations(text) == {"alpha": (), "beta-x": ("alpha", "gam-ma")}
