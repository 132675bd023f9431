"""What each kind of error means, and what to do next; `rra.report.words` shows it."""

from __future__ import annotations

ERRORS = {
    "error": (
        "Something was refused; the message says what.",
        "Follow the hint below the message.",
    ),
    "usage": (
        "The call names something that does not exist, or options that do not go together.",
        "See `rra VERB --help`; the hint names what exists.",
    ),
    "usage/not-an-artifact": (
        "The directory holds no `rra.yaml`.",
        "Give the directory of an artifact, or make one with `rra init`.",
    ),
    "format/invalid": (
        "A document breaks the format. All problems are listed, with file, line and column.",
        "Correct the places named; `rra lint` shows them again.",
    ),
    "format/unsafe-path": (
        "A path leads out of the artifact, or its name is not the same file on every system.",
        "Copy the file into the artifact and name it by its place there.",
    ),
    "artifact/digest-mismatch": (
        "Bytes are not those that a digest vouches for: a file was damaged or changed.",
        "Fetch the file again from where it came. Do not correct the digest.",
    ),
    "bundle/archive": (
        "An archive is damaged, unpacks to too much, or was not made by `rra pack`.",
        "Fetch it again from where it came; otherwise ask its author to pack it with `rra pack`.",
    ),
    "unavailable": (
        "Something outside the artifact is missing or refuses.",
        "The message names it; supply it and run the same command again.",
    ),
    "unavailable/tool": (
        "A program that this step needs is not installed.",
        "Install it as the hint says; `rra doctor` shows all of them.",
    ),
    "unavailable/storage": (
        "The disk is full, or the place may not be written.",
        "Free some space or choose another place. Nothing was left half-written.",
    ),
    "registry/unavailable": (
        "A registry does not answer, answers with an error, or broke off in the middle.",
        "The message names the host and what it said. Run it again; nothing is half-written.",
    ),
    "registry/login": (
        "A registry wants a login, or refuses the one that it was given.",
        (
            "Log in with `rra registry login HOST` (logins of docker, podman and skopeo count, "
            "too); `DOCKER_CONFIG` and `REGISTRY_AUTH_FILE` say where the login is kept."
        ),
    ),
    "environment/unresolvable": (
        (
            "An environment cannot be locked: an index does not have a package (any more) or "
            "cannot be reached, or a package without a wheel cannot be built."
        ),
        (
            "Read which package is named; correct or loosen its requirement, or take a Python "
            "that has wheels of it; the hint names those."
        ),
    ),
    "environment/no-solution": (
        (
            "No versions satisfy all requirements together, for this Python and as of this day. "
            "The message begins with a smallest set of them that conflicts."
        ),
        (
            "Set the Python or the day that the hint names in `rra.yaml`, if it names one; or "
            "loosen one of those requirements."
        ),
    ),
    "environment/other-file": (
        (
            "An index has other files for a package than the author's own lock or requirements "
            "file names by digest. Nothing was locked."
        ),
        (
            "Find out which of the two is right: ask the index that the author used, or the "
            "author. Only then take the digest out of that file."
        ),
    ),
    "environment/build": (
        (
            "The locked environment cannot be built on this machine: a file is no longer to be "
            "had, or is made for another platform or Python."
        ),
        "Read which file is named. `environment/<id>/README.md` says how to build it by hand.",
    ),
    "environment/platform": (
        (
            "The artifact carries its interpreter, and that is for another platform, a newer C "
            "library, or libraries that this machine lacks."
        ),
        (
            "Use a machine, or a container of a system, that has what the message names. Nothing "
            "of the interpreter was run."
        ),
    ),
    "launch/failed": (
        "A launcher ended with an error, ran out of time, or left no result.",
        "Read the end of its output, which the message shows; all of it is in the evidence.",
    ),
    "evidence/no-value": (
        "A selector found no value, several values, or something that is not one.",
        "The message names the file and what stands in it; correct the selector or the script.",
    ),
    "repairs/does-not-apply": (
        "A patch does not fit the files that it is meant for.",
        (
            "Check that the source is the commit that the manifest names; write the patch again "
            "with `git diff --binary --full-index`."
        ),
    ),
    "internal": (
        "A fault of `rra` itself.",
        "Please report it with the command and the message.",
    ),
}
