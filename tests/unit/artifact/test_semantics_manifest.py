from __future__ import annotations

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact.semantics.data_items import check as check_data
from rra.artifact.semantics.environments import check as check_environments
from rra.artifact.semantics.manifests import check as check_manifest
from rra.artifact.semantics.paths import folded, parts


def found(check: object, text: str) -> list[tuple[str, str]]:
    document = parse_yaml(text, source="rra.yaml")
    return [(one.clause, one.pointer) for one in check(document)]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("orcid", "right"),
    [
        ("0000-0002-1825-0097", True),  # the example of ORCID's own documentation
        ("0000-0001-5109-3700", True),
        ("0000-0002-1694-233X", True),
        ("0000-0002-1825-0079", False),
        ("0000-0002-1694-2330", False),
    ],
)
def test_check_digits_of_orcid(orcid: str, right: bool) -> None:  # noqa: FBT001
    faults = found(check_manifest, f"license: MIT\nauthors: [{{name: a, orcid: {orcid}}}]\n")
    assert (faults == []) is right


@pytest.mark.parametrize(
    ("day", "exists"),
    [
        ("2024-02-29", True),
        ("2023-02-29", False),
        ("2000-02-29", True),
        ("1900-02-29", False),
        ("2024-04-31", False),
        ("0000-01-01", False),
        ("0001-01-01", True),
    ],
)
def test_days_of_the_calendar(day: str, exists: bool) -> None:  # noqa: FBT001
    text = f'environments: {{e: {{kind: system, as_of: "{day}"}}}}\n'
    expected = [] if exists else [("environment/as-of-is-a-date", "/environments/e/as_of")]
    assert found(check_environments, text) == expected


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("data/x", True),
        ("outputs", False),
        ("outputs.csv", True),
        ("a/outputs/x", True),
        (".//evidence/x", False),
        ("Outputs/x", True),
        ("././", False),
        ("./rra.lock", False),
        ("data/rra.yaml", True),
    ],
)
def test_places_of_data(path: str, own: bool) -> None:  # noqa: FBT001
    expected = [] if own else [("data/path-is-its-own", "/data/d/path")]
    assert found(check_data, f"data: {{d: {{path: {path}}}}}\n") == expected


def test_paths_are_compared_by_their_parts() -> None:
    assert parts("./a//b/./c/") == ("a", "b", "c")
    assert folded("./A//É.TXT/") == "a/É.txt"  # only A to Z are folded
