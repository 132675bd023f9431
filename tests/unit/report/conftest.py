from __future__ import annotations

from pathlib import Path

import pytest

from rra.artifact import Artifact
from tests.unit.report import samples


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    return samples.make_artifact(tmp_path / "artifact")
