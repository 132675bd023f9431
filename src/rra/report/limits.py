"""What the evidence of a report does not show; said with every report."""

from __future__ import annotations

from rra.report.documents import Doc
from rra.report.page import OutcomeView

_ALWAYS = (
    (
        "Agreement is necessary evidence, not proof. A wrong method can give the right number, and "
        "with five references and one run a shift of two standard deviations still passes in about "
        "seven of ten cases."
    ),
    "Nobody compared the code with what the paper says the method is; that takes a person.",
)


def limits(outcomes: tuple[OutcomeView, ...], done: Doc, checked: Doc) -> tuple[str, ...]:
    """Return the limits that hold for these documents, the gravest first."""
    if not done and not checked:
        return (
            (
                "Nothing was run. The report repeats what the artifact claims and shows how it is "
                "made; `rra verify` runs it as a stranger would."
            ),
        )
    found: list[str] = []
    if not done:
        found.append("There was no verification: no stranger's run stands behind the numbers.")
    if done and not any(item.repeatability.word in {"pass", "fail"} for item in outcomes):
        found.append(
            "Agreement only: there were no reference runs by others, so whether a new run repeats "
            "earlier ones was not asked."
        )
    found += _isolation(done)
    if done and not checked and not any(item.trace for item in outcomes):
        found.append("There was no audit: whether the numbers are computed was not looked at.")
    elif not any(_was_probed(item) for item in outcomes):
        found.append(
            "No run with changed inputs was made, so a copied number would not have been noticed."
        )
    return (*found, *_ALWAYS)


def _isolation(done: Doc) -> list[str]:
    """Return what the sandbox and the recorder could not do."""
    runs = done.docs("runs")
    found = []
    if any(run.text("sandbox") == "none" for run in runs):
        found.append(
            "The launchers ran without isolation: they could reach the network and the files of "
            "whoever ran them."
        )
    for title, key in (("Isolation", "sandbox_gaps"), ("Recorder", "recorder_gaps")):
        gaps = dict.fromkeys(gap for run in runs for gap in run.texts(key))
        found += [f"{title}: {gap}." for gap in gaps]
    return found


def _was_probed(item: OutcomeView) -> bool:
    return any(found.details for found in (*item.headline, *item.findings))
