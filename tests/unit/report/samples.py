# ruff: noqa: E501 - documents as they are, one value a line
"""An artifact with outcomes of every kind, and the documents about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rra.artifact import Artifact, load_artifact
from tests.lint.support import write_artifact

D = "sha256:" + "0123456789abcdef" * 4
HOSTILE = '<script>alert("x")</script> & "quoted" \'single\' \u202eevil'

MANIFEST = f"""\
rra: "1.0"
name: wine-discriminant
version: 1.0.0
license: MIT
title: Wine recognition with three discriminants
description: Leave-one-out accuracies on 178 wines of three growers.
paper:
  title: Comparison of classifiers in high dimensional settings
  authors: [S. Aeberhard, D. Coomans, O. de Vel]
  year: 1992
  url: https://example.org/paper
source: {{swhid: "swh:1:dir:9269075e638b383f836e5e65346a3dc2cd6e56c5"}}
environments: {{cpu: {{kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}}}
launchers:
  lda: {{entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json], deterministic: true}}
experiments:
  table1:
    outcomes:
      lda: {{type: number, reported: "98.9", unit: percent, location: "Table 1, row LDA", n_items: 178,
        metric: accuracy, split: leave-one-out, selector: &s {{launcher: lda, file: metrics.json, json: /lda}}}}
      qda: {{type: number, reported: "99.4", unit: percent, location: "Table 1, row QDA", selector: *s}}
      knn: {{type: number, reported: "96.1", unit: percent, location: "Table 1, row 1-NN", selector: *s,
        deviation: {{observed: "95.5", explanation: "One of 178 wines falls on the other side; the paper does not say how ties are broken."}}}}
      copied: {{type: number, reported: "97.2", unit: percent, location: "Table 2", selector: *s}}
      loss: {{type: number, reported: "0.0031", unit: nats, scale: log, location: "Figure 3", selector: *s}}
      lost: {{type: number, reported: "12.5", unit: seconds, location: "§5", selector: *s}}
      best: {{type: category, reported: QDA, location: "§6", selector: *s}}
  hostile:
    title: {json.dumps(HOSTILE)}
    outcomes:
      a: {{type: list, reported: ["<b>x</b>", "y"], location: '<img src=x onerror=alert(1)>', selector: *s}}
"""

SETTINGS = """\
folds: {value: 178, source: paper, where: "§3.1", rationale: one wine is left out at a time}
scaling: {value: z, source: inferred, where: "code/main.py:12", rationale: "the accuracies only fit with it", alternatives: [{value: none, result: "76.9 %"}]}
"""

REPAIRS = """\
0001-function:
  title: Print as a function
  symptom: "SyntaxError: Missing parentheses in call to 'print'"
  cause: the code was written for Python 2
  patch: guide/repairs/0001-function.patch
  category: api-compatibility
  effect_on_results: none
  rationale: the same text is printed
0002-lost:
  title: A patch that is not there
  symptom: "<script>alert(2)</script>"
  cause: a mistake
  patch: guide/repairs/0002-lost.patch
  category: path
  effect_on_results: possible
  rationale: none
"""

PATCH = """\
diff --git a/main.py b/main.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/main.py
+++ b/main.py
@@ -1 +1 @@
-print '<script>hello</script>'
+print('<script>hello</script>')
"""


def make_artifact(root: Path) -> Artifact:
    files = {
        "rra.yaml": MANIFEST,
        "guide/settings.yaml": SETTINGS,
        "guide/repairs.yaml": REPAIRS,
        "guide/repairs/0001-function.patch": PATCH,
    }
    return load_artifact(write_artifact(root, files))


def trace(outcome: str, **more: Any) -> dict[str, Any]:
    return {
        "outcome": outcome,
        "reported": "98.9",
        "selector": "lda: metrics.json /lda",
        "value": "0.98876404494382",
        "file": "metrics.json",
        "sha256": D,
        "place": "/lda",
        "line": 3,
        "record": D,
        "launcher": "lda",
        "entry": {"path": "launchers/lda.sh", "sha256": D},
        "scripts": [{"path": "code/main.py", "sha256": D}],
        "started": "2026-11-29T18:00:00Z",
        **more,
    }


def assessment(answer: str, rule: str = "none", **more: Any) -> dict[str, Any]:
    empty = {"centre": None, "h": None, "interval": None, "z": None, "detectable": None}
    return {"answer": answer, "reason": "…", "rule": rule, **empty, "more_runs": None, **more}


def outcome(name: str, verdict: str, values: list[str], **more: Any) -> dict[str, Any]:
    return {
        "outcome": f"table1/{name}",
        "type": "number",
        "reported": "98.9",
        "unit": "percent",
        "scope": "retrained",
        "values": values,
        "mean": values[0] if values else None,
        "references": [],
        "agreement": "not_assessed",
        "repeatability": "not_assessed",
        "verdict": verdict,
        "detail": "",
        "label": verdict,
        "reason": "…",
        "findings": [],
        "trace": trace(f"table1/{name}"),
        **more,
    }


def judgement(agreement: dict[str, Any], repeatability: dict[str, Any], g: str) -> dict[str, Any]:
    return {
        "rule": "rra-success/v1",
        "verdict": "inconclusive",
        "reason": "…",
        "reported": "98.9",
        "fresh": 1,
        "references": 0,
        "agreement": agreement,
        "repeatability": repeatability,
        "g": g,
        "alpha": 0.0071,
        "findings": [],
    }


def hardcoded() -> dict[str, Any]:
    trials = [
        {
            "number": number,
            "launcher": "lda",
            "replaced": [{"place": "results/accuracy.csv:4", "original": "97.2", "decoy": decoy}],
            "replaced_count": 1,
            "obtained": {"table1/copied": decoy},
        }
        for number, decoy in ((1, "91.6"), (2, "99.7"))
    ]
    return {
        "code": "HARDCODED",
        "status": "refuted",
        "material": True,
        "message": "The value is copied from results/accuracy.csv:4: it followed a change there "
        "both ways",
        "places": ["results/accuracy.csv:4"],
        "trials": trials,
    }


def outcomes() -> list[dict[str, Any]]:
    cleared = {
        "code": "HARDCODED",
        "status": "supported",
        "material": True,
        "message": "3 numbers like it were changed and the value stayed",
        "places": [],
        "trials": [{"number": 1, "launcher": "lda", "obtained": {"table1/lda": "0.98876"}}],
    }
    references = [
        "98.876404494382",
        "98.876404494382",
        "98.314606741573",
        "98.876404494382",
        "99.43820",
    ]
    by_references = judgement(
        assessment("pass", "references", h="1.31", interval=["97.56", "100"], z="0.04"),
        assessment(
            "pass",
            "reference-runs",
            h="1.31",
            interval=["97.56", "100"],
            z="0.2",
            detectable=["1.1", "4.8"],
        ),
        "0.331",
    )
    deterministic = assessment("pass", "deterministic", h="0.05", interval=["99.35", "99.45"])
    off = assessment("fail", "deterministic", h="0.331", interval=["95.769", "96.431"])
    none = assessment("not_assessed")
    return [
        outcome(
            "lda",
            "reproduced",
            ["98.87640449438202"],
            references=references,
            agreement="pass",
            repeatability="pass",
            reason="98.9 lies within 98.8764 ± 1.31 from 5 reference values",
            judgement=by_references,
            findings=[cleared],
        ),
        outcome(
            "qda",
            "reproduced",
            ["99.43820224719101"],
            agreement="pass",
            reason="99.4382 agrees with the reported 99.4: they differ by 0.038, within 0.05",
            judgement=judgement(deterministic, none, "0.05"),
        ),
        outcome(
            "knn",
            "deviates_as_documented",
            ["95.50561797752809"],
            agreement="fail",
            reason="95.5056 does not agree with the reported 96.1; it is what the artifact announces",
            judgement=judgement(off, none, "0.331"),
        ),
        outcome(
            "copied",
            "not_reproduced",
            ["97.2"],
            agreement="pass",
            findings=[hardcoded()],
            reason="the value is copied from a file that is part of the artifact",
        ),
        outcome(
            "loss",
            "inconclusive",
            ["0.0029"],
            unit="nats",
            detail="single run",
            agreement="inconclusive",
            reason="one run says nothing about the spread of 0.0029",
            judgement=judgement(
                assessment("inconclusive", "own-runs", more_runs=2), none, "0.00005"
            ),
        ),
        outcome(
            "lost",
            "could_not_run",
            [],
            unit="seconds",
            detail="launcher failed",
            reason="lda ended with exit code 3",
            trace=None,
        ),
        outcome("best", "reproduced", ["QDA"], type="category", agreement="pass", unit=None),
        {
            **outcome("a", "not_reproduced", [HOSTILE], type="list", agreement="fail", unit=None),
            "outcome": "hostile/a",
            "reason": HOSTILE,
            "trace": trace("hostile/a", file="<svg onload=alert(3)>.json", value=HOSTILE),
        },
    ]


def reproduction() -> dict[str, Any]:
    return {
        "type": "reproduction/v1",
        "artifact": "wine-discriminant",
        "version": "1.0.0",
        "core": D,
        "plan": {
            "created": "2026-11-29T18:00:00Z",
            "nonce": "3f9c1a77e0b24d58",
            "attempt": 2,
            "alpha": 0.05,
            "sandbox": "bwrap",
            "references": D,
            "runs": [
                {"launcher": "lda", "reports": 1, "runs_per_report": 1, "seeds": [None]},
            ],
            "outcomes": [{"outcome": "table1/lda", "alpha": 0.0071428571, "references": 5}],
        },
        "attempts": 2,
        "started": "2026-11-29T18:00:00Z",
        "ended": "2026-11-29T18:02:11Z",
        "machine": {
            "os": "Debian GNU/Linux 12 (bookworm)",
            "kernel": "Linux 6.1.0",
            "cpu": {"model": "Example CPU @ 2.50GHz", "count": 2},
            "memory": 8 * 1024**3,
        },
        "environments": [
            {"id": "cpu", "ok": True, "python": "3.11.7", "packages": 6, "lock": D, "installed": D}
        ],
        "runs": [
            {
                "launcher": "lda",
                "instance": "default",
                "report": 1,
                "ok": True,
                "seconds": 2.31,
                "peak_bytes": 91 * 1024**2,
                "record": D,
                "sandbox": "bwrap",
                "sandbox_gaps": ["memory is not limited"],
                "recorder": "tree",
                "recorder_gaps": ["reads are not observed"],
            },
            {
                "launcher": "lda",
                "instance": "default",
                "report": 2,
                "ok": False,
                "seed": 7,
                "message": "exit code 3",
                "sandbox": "bwrap",
                "recorder": "tree",
            },
        ],
        "outcomes": outcomes(),
        "experiments": {"table1": "partial", "hostile": "not_reproduced"},
        "verdict": "partial",
        "level": "L1",
        "level_reasons": ["a launcher failed"],
        "coverage": "L1 · 8 outcomes declared",
    }


def audit() -> dict[str, Any]:
    return {
        "type": "audit/v1",
        "core": D,
        "started": "2026-11-29T18:03:00Z",
        "rerun": True,
        "values": [
            {
                "outcome": "table1/lda", "reported": "98.9", "obtained": "98.876404",
                "evidence_level": "E4", "verdict": "SUPPORTED", "findings": [],
                "trace": trace("table1/lda"),
            },
            {
                "outcome": "table1/copied", "reported": "97.2", "obtained": "97.2",
                "evidence_level": "E3", "verdict": "HARDCODED", "findings": [hardcoded()],
                "trace": trace("table1/copied"),
            },
        ],
    }  # fmt: skip
