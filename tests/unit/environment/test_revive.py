"""Looking for the Python and the day with which an old environment works."""

from __future__ import annotations

import datetime as dt
import json
import platform
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra import api
from rra.artifact import Artifact, load_artifact
from rra.environment import resolve
from rra.environment.revive import Attempt, Search, Tried, ranked
from rra.environment.smoke import Installed, try_imports
from rra.errors import LockError, NoSolutionError
from tests.acceptance.command import rra
from tests.unit.environment.conftest import PYTHON
from tests.unit.environment.toy_index import ToyIndex, make_sdist, make_wheel

TODAY = "2024-01-01"
SCHEMAS = Path(__file__).parents[3] / "schemas" / "cli"


def search(
    works: Callable[[Attempt], bool], start: Attempt, pythons: tuple[str, ...] = (), **more: bool
) -> tuple[Tried, list[Attempt]]:
    def attempt(one: Attempt) -> Tried:
        return Tried(one, "works") if works(one) else Tried(one, "import", "x", 1)

    looking = Search(attempt)
    best = looking.run(start, lambda: pythons, today=TODAY, **more)
    return best, [one.attempt for one in looking.tried]


def test_what_works_at_once_is_tried_once() -> None:
    start = Attempt("3.11", "2020-01-01")
    assert search(lambda _: True, start, ("3.10",)) == (Tried(start, "works"), [start])


def test_another_python_on_the_same_day_comes_before_another_day() -> None:
    start = Attempt("3.11", "2020-01-01")
    best, tried = search(lambda one: one.python == "3.8", start, ("3.9", "3.8"))
    assert best.attempt == Attempt("3.8", "2020-01-01")
    assert [one.python for one in tried] == ["3.11", "3.9", "3.8"]


@given(
    st.dates(dt.date(2012, 1, 1), dt.date(2022, 1, 1)),
    st.integers(1, 1400),
    st.sampled_from([-1, 1]),
)
def test_about_the_nearest_day_is_found(asked: dt.date, away: int, side: int) -> None:
    """Works from `edge` on, away from the day that was asked for, on one side of it."""
    edge = asked + dt.timedelta(days=away * side)
    if edge.isoformat() > TODAY or away > 1400:
        return

    def works(one: Attempt) -> bool:
        day = dt.date.fromisoformat(one.day)
        return day <= edge if side < 0 else day >= edge

    best, _ = search(works, Attempt("3.8", asked.isoformat()))
    if best.works:
        gap = (edge - dt.date.fromisoformat(best.attempt.day)).days * -side
        assert 0 <= gap <= 7
    else:
        assert side > 0
        assert edge > dt.date.fromisoformat(TODAY) - dt.timedelta(days=1)


def test_a_day_that_somebody_decided_is_not_moved() -> None:
    start = Attempt("3.11", "2020-01-01")
    best, tried = search(lambda one: one.day < "2020", start, ("3.10",), move_day=False)
    assert not best.works
    assert {one.day for one in tried} == {"2020-01-01"}


def test_without_success_the_one_that_came_furthest_is_returned() -> None:
    def attempt(one: Attempt) -> Tried:
        return Tried(one, "import" if one.python == "3.9" else "resolve", "x")

    best = Search(attempt, most=4).run(Attempt("3.11", "2020-01-01"), lambda: ["3.9"], today=TODAY)
    assert (best.attempt.python, best.stage) == ("3.9", "import")


def test_pythons_are_ranked_by_the_wheels_they_lack() -> None:
    counted = [("3.8", 2), ("3.9", 0), ("3.12", 0), ("3.10", None), ("3.7", 0), ("3.11", 0)]
    assert ranked(counted, "3.11") == ["3.12", "3.9", "3.7", "3.8"]


@pytest.fixture
def one_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for no other Python: a test of days would install each."""
    own = int(PYTHON[2:])
    monkeypatch.setattr(resolve, "_MINORS", range(own, own + 1))


def breaking(index: ToyIndex) -> None:
    """Offer gamma, whose 1.1 of 2021-06-01 lost a name and whose 2.0 cannot be imported."""
    for version, day, body in (
        ("1.0", "2020-01-01", "def old(): pass\n"),
        ("2.0", "2023-06-01", "raise ImportError('gone')\n"),
    ):
        name = f"gamma-{version}-py3-none-any.whl"
        index.add("gamma", name, make_wheel("gamma", version, body=body), day)
    index.add("gamma", "gamma-1.1.tar.gz", make_sdist("gamma", "1.1"), "2021-06-01")


@pytest.mark.usefixtures("one_python")
def test_imports_of_the_code_bisect_the_day_and_the_lock_says_so(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    breaking(index)
    # beta 2.0 came on 2022-06-01, after the first day that is tried.
    (root / "code" / "requirements.txt").write_text("gamma\nbeta\n")
    (root / "code" / "main.py").write_text("import gamma\nfrom gamma import old\n")
    artifact('as_of: "2022-01-01"')
    lines: list[str] = []
    result = api.lock(root, search=True, progress=lines.append)
    (one,) = result.environments
    assert one.packages == ("beta 1.0", "gamma 1.0")
    # What lacks a name once is not installed again for it, whatever else is installed with it.
    assert [line for line in lines if line.startswith("installing ")] == 2 * [
        f"installing environment trial: Python {platform.python_version()}, 2 packages"
    ]
    assert "gamma 1.1 again, which lacks what the code imports of it" in lines
    # gamma 1.1 was built for the tries, and stays behind with them.
    assert not list(root.glob("environment/cpu/wheels/*"))
    assert one.as_of is not None
    assert "2021-05-24" <= one.as_of <= "2021-05-31"
    assert one.tried[0].stage == "import"
    assert one.tried[0].why.startswith("from gamma import old fails: ImportError: cannot import")
    environment = load_artifact(root).manifest.environments["cpu"]
    assert (environment.as_of, environment.as_of_why) == (one.as_of, "bisected")
    facts = tomllib.loads((root / "environment/cpu/pylock.toml").read_text())["tool"]["rra"]
    assert facts["as-of-why"].startswith("bisected from 2022-01-01: the nearest that works of ")
    # The folder of the try is none of the lock's business: its name is another each time.
    assert facts["tried"][0] == (
        f"Python {PYTHON} as of 2022-01-01: import: from gamma import old fails: ImportError: "
        f"cannot import name 'old' from 'gamma' (lib/python{PYTHON}/site-packages/gamma.py)"
    )
    assert any(
        line.startswith(f"try 1: Python {PYTHON} as of 2022-01-01: import") for line in lines
    )
    # What was found is what is locked from now on, with the same reason.
    before = (root / "environment/cpu/pylock.toml").read_text()
    api.lock(root)
    assert (root / "environment/cpu/pylock.toml").read_text() == before


def test_a_package_that_nobody_named_moves_nothing(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    (root / "code" / "requirements.txt").write_text("alpha\n")
    (root / "code" / "main.py").write_text(
        "import alpha\nimport omega\ntry:\n    import cupy\nexcept ImportError:\n    cupy = None\n"
    )
    artifact('as_of: "2022-01-01"')
    (one,) = api.lock(root, search=True).environments
    assert [tried.stage for tried in one.tried] == ["works"]
    assert one.failing == (
        "import omega fails: ModuleNotFoundError: No module named 'omega' [missing]",
    )
    assert one.as_of == "2022-01-01"


def test_a_name_that_no_index_has_ends_the_search_at_once(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    artifact('as_of: "2022-01-01", requirements: [omega]')
    lines: list[str] = []
    with pytest.raises(LockError, match="omega was not found"):
        api.lock(root, search=True, progress=lines.append)
    assert not any(line.startswith("try ") for line in lines)


def test_a_machine_reads_each_step_and_each_try_as_it_happens(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    artifact('as_of: "2022-01-01", as_of_why: author, requirements: [alpha]')
    (root / "code" / "main.py").write_text("import alpha\n")
    answer = rra("lock", root, "--search", "--json").expect(0)
    assert answer.result["environments"][0]["packages"] == ["alpha 1.0", "beta 1.0"]
    schema = json.loads((SCHEMAS / "lock-event.schema.json").read_text())
    events = [json.loads(line) for line in answer.err.splitlines()]
    for event in events:
        jsonschema.validate(event, schema)
    assert events[0]["message"] == "looking for what cpu needs"
    (tried,) = [event for event in events if event["event"] == "try"]
    assert tried == {
        "rra": "1.0",
        "verb": "lock",
        "event": "try",
        "message": f"try 1: Python {PYTHON} as of 2022-01-01: works",
        "number": 1,
        "python": PYTHON,
        "as_of": "2022-01-01",
        "stage": "works",
        "why": "",
    }


@pytest.mark.usefixtures("one_python")
def test_where_nothing_can_be_installed_that_is_said(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    (root / "code" / "requirements.txt").write_text("alpha==2.0\nbeta==1.0\n")
    artifact('as_of: "2023-06-01", as_of_why: author')
    before = (root / "rra.yaml").read_bytes()
    with pytest.raises(NoSolutionError, match=r"none of \d+ tries of a Python and a day") as caught:
        api.lock(root, search=True)
    assert f"Python {PYTHON} as of 2023-06-01: resolve fails" in caught.value.message
    assert (root / "rra.yaml").read_bytes() == before


def backend(index: ToyIndex) -> None:
    """Offer joblib, which imports toolz, does not declare it, and does not say so either."""
    body = (
        "try:\n    import toolz\nexcept ImportError:\n"
        "    raise ImportError('joblib needs a backend')\n"
    )
    wheel = make_wheel("joblib", "1.0", body=body)
    index.add("joblib", "joblib-1.0-py3-none-any.whl", wheel, "2020-01-01")


@pytest.mark.usefixtures("one_python")
def test_a_backend_that_no_package_declares_is_added_and_the_manifest_says_why(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    backend(index)
    index.add_wheel("toolz", "1.0", "2020-01-01")
    index.add_wheel("toolz", "2.0", "2023-01-01")
    (root / "code" / "requirements.txt").write_text("alpha<2\njoblib\n")
    (root / "code" / "main.py").write_text("import joblib\n")
    artifact()
    block = (
        f'\n    kind: pylock\n    python: "{PYTHON}"\n    lock: environment/cpu/pylock.toml\n'
        '    as_of: "2022-01-01"'
    )
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(re.sub(r" \{kind: pylock.*\}", lambda _: block, text))
    result = api.lock(root, search=True)
    (one,) = result.environments
    assert one.packages == ("alpha 1.0", "beta 1.0", "joblib 1.0", "toolz 1.0")
    assert one.requirements == ("alpha<2", "joblib", "toolz")
    assert [(tried.stage, tried.why) for tried in one.tried] == [
        ("works", "with toolz (import joblib needs it) added")
    ]
    why = "import joblib needs it, and no package declares it"
    assert f"cpu: toolz is added to the requirements in rra.yaml: {why}" in result.notes
    assert (
        f'    # toolz: {why}\n    requirements:\n      - "alpha<2"\n      - "joblib"\n'
        '      - "toolz"\n'
    ) in (root / "rra.yaml").read_text()
    # From now on it is locked without a search, too.
    before = (root / "environment/cpu/pylock.toml").read_bytes()
    api.lock(root)
    assert (root / "environment/cpu/pylock.toml").read_bytes() == before


@pytest.mark.usefixtures("one_python")
@pytest.mark.parametrize("offered", ["nowhere", "not yet"])
def test_where_a_backend_cannot_be_had_the_environment_without_it_is_locked(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact], offered: str
) -> None:
    backend(index)
    if offered == "not yet":
        index.add_wheel("toolz", "1.0", "2023-01-01")
    (root / "code" / "main.py").write_text("import joblib\n")
    artifact('as_of: "2022-01-01", as_of_why: author, requirements: [joblib]')
    (one,) = api.lock(root, search=True).environments
    assert one.packages == ("joblib 1.0",)
    assert one.failing == ("import joblib fails: ImportError: joblib needs a backend [version]",)
    assert load_artifact(root).manifest.environments["cpu"].requirements == ["joblib"]


@pytest.mark.usefixtures("one_python")
def test_a_package_of_an_unknown_name_is_never_added(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    """Whoever registers the name that an error speaks of would run code here."""
    wheel = make_wheel("joblib", "1.0", body="import omega_backend\n")
    index.add("joblib", "joblib-1.0-py3-none-any.whl", wheel, "2020-01-01")
    index.add_wheel("omega_backend", "1.0", "2020-01-01")
    (root / "code" / "main.py").write_text("import joblib\n")
    artifact('as_of: "2022-01-01", as_of_why: author, requirements: [joblib]')
    (one,) = api.lock(root, search=True).environments
    assert one.packages == ("joblib 1.0",)
    assert not any("omega" in name for name in index.fetched)


@pytest.mark.usefixtures("one_python")
def test_a_requirement_with_a_password_is_not_copied_into_the_manifest(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    backend(index)
    index.add_wheel("toolz", "1.0", "2020-01-01")
    host = index.url.removeprefix("http://").removesuffix("/simple")
    address = f"http://me:s3cret@{host}/files/alpha-1.0-py3-none-any.whl"
    (root / "code" / "requirements.txt").write_text(f"joblib\nalpha @ {address}\n")
    (root / "code" / "main.py").write_text("import joblib\n")
    artifact('as_of: "2022-01-01", as_of_why: author')
    api.lock(root, search=True)
    assert "s3cret" not in (root / "rra.yaml").read_text()


def test_a_statement_that_ends_python_fails_and_the_next_is_tried() -> None:
    here = Installed(Path(sys.prefix), Path(sys.executable), Path(sys.base_prefix))
    failed = try_imports(
        here,
        ["import json", "from os import _exit; _exit(7)", "from json import nothing", "import re"],
    )
    assert [(one.statement, one.kind) for one in failed] == [
        ("from os import _exit; _exit(7)", "version"),
        ("from json import nothing", "version"),
    ]
    assert failed[0].why.startswith("Python ended")


def test_imports_have_no_network_and_no_end_of_patience() -> None:
    here = Installed(Path(sys.prefix), Path(sys.executable), Path(sys.base_prefix))
    statement = "import socket; socket.create_connection(('127.0.0.1', 9), 5)"
    stuck = "import time; time.sleep(60)"
    failed = try_imports(here, [statement, stuck], seconds=1)
    assert [one.statement for one in failed] == [statement, stuck]
    assert failed[1].why == "not done after 1 s"
