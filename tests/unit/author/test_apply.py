from __future__ import annotations

from pathlib import Path

import pytest

from rra.artifact import load_artifact
from rra.author import apply, apply_init, plan_init
from rra.errors import CorruptError, StorageError
from tests.support.lookalikes import write

FILES: dict[str, str | bytes] = {
    "README.md": "`python a.py`\n",
    "a.py": "print(1)\n",
    "code/b.py": "",
}


def everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def stop_after(monkeypatch: pytest.MonkeyPatch, renames: int) -> None:
    """Break off like a kill: after so many renames nothing happens any more."""
    left = [renames]

    def counted(original: object) -> object:
        def rename(self: Path, target: Path) -> Path:
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            return original(self, target)  # type: ignore[operator,no-any-return]

        return rename

    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "replace", counted(Path.replace))


@pytest.mark.parametrize("nested", [False, True])
def test_broken_off_anywhere_the_next_init_completes_it(tmp_path: Path, nested: bool) -> None:  # noqa: FBT001
    whole = write(tmp_path / "whole" / "r", FILES)
    apply_init(plan_init(whole, nested=nested))
    wanted = everything(whole)
    for renames in range(40):
        root = write(tmp_path / str(renames) / "r", FILES)
        with pytest.MonkeyPatch.context() as patch:
            stop_after(patch, renames)
            try:
                apply_init(plan_init(root, nested=nested))
                finished = True
            except KeyboardInterrupt:
                finished = False
        if not finished:
            assert not (root / "rra.yaml").exists()
            apply_init(plan_init(root, nested=nested))
        assert everything(root) == wanted
        load_artifact(root)
        if finished:
            return
    pytest.fail("init never finished")


def test_a_refused_write_leaves_the_directory_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, FILES)
    before = everything(root)
    plan = plan_init(root)

    def refuse(path: Path, data: object, *, mode: int = 0) -> None:
        if path.name == "GUIDE.md":
            raise StorageError("no space left")

    monkeypatch.setattr(apply, "atomic_write", refuse)
    with pytest.raises(StorageError, match="no space left"):
        apply_init(plan)
    assert everything(root) == before


def test_a_staged_plan_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, f"{apply.STAGE}/plan.json": "{"})
    with pytest.raises(CorruptError, match="not readable") as caught:
        plan_init(tmp_path)
    assert "remove" in caught.value.hint
