"""Fuzz the readers of what others wrote: `tests/fuzz/harnesses.py` says which.

    python tools/fuzz.py                          every harness for a minute
    python tools/fuzz.py tar reference            these
    python tools/fuzz.py tar --seconds 600 --engine mutations --seed 7
    python tools/fuzz.py --write-corpus           the seeds anew

With atheris (extra `fuzz`) the search is guided by what code an input reaches; without it, inputs
of the corpus are changed by chance. Every input may take 10 seconds and the process 1 GiB more than
at its beginning. What breaks a reader is written to build/fuzz/<harness>/ and makes the exit code
1: mend the reader, and keep the file in tests/fuzz/corpus/<harness>/crash-<what it was>.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
FOUND = ROOT / "build" / "fuzz"
INPUT_SECONDS = 10
MEMORY = 1 << 30
NAMES = (
    "tar",
    "layer",
    "archive",
    "index",
    "manifest",
    "config",
    "definition",
    "reference",
    "signature",
)


class TooSlowError(BaseException):
    """An input takes longer than any should; no handler of a reader catches it."""


def _late(_: int, __: FrameType | None) -> None:
    raise TooSlowError


def _limited() -> None:
    """Bound the memory of this process from here on."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def keep(harness: str, data: bytes) -> Path:
    """Write down an input that broke a reader."""
    place = FOUND / harness
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"crash-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def mutations(harness: str, seconds: float, seed: int) -> int:
    """Change inputs by chance until the time is over; return how many broke the reader."""
    from tests.fuzz.harnesses import HARNESSES, sweep
    from tests.fuzz.mutation import mutated
    from tests.fuzz.seeds import corpus

    call, given = HARNESSES[harness], list(corpus(harness).values())
    seeds = list(given)  # and the last 200 that were accepted
    chance = random.Random(seed)  # noqa: S311 - not for secrets; the same inputs each time
    signal.signal(signal.SIGALRM, _late)
    _limited()
    runs = accepted = slowest = 0.0
    kinds: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(harness, chance.choice(seeds), seeds, chance)
        runs += 1
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, INPUT_SECONDS)
        try:
            if call(data):
                accepted += 1
                seeds.append(data)
                del seeds[len(given) : -200]
        except BaseException as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if isinstance(error, KeyboardInterrupt):
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
            if kind not in kinds:
                kinds.add(kind)
                print(f"{harness}: {kind}: {error}\n  {keep(harness, data)}", flush=True)
        signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.monotonic() - began)
    sweep()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{harness}: {runs:.0f} inputs by mutation, {accepted:.0f} accepted, slowest"
        f" {slowest * 1000:.0f} ms, {peak} MiB, {len(kinds)} kinds of fault"
    )
    return len(kinds)


def guided(harness: str, seconds: float, seed: int) -> int:
    """Let atheris search until the time is over; it ends the process at the first fault."""
    import atheris

    with atheris.instrument_imports(include=["rra"]):
        from tests.fuzz.harnesses import HARNESSES
    from tests.fuzz.mutation import mended
    from tests.fuzz.seeds import CORPUS

    def one(data: bytes) -> None:
        HARNESSES[harness](data)

    def change(data: bytes, size: int, seed: int) -> bytes:
        chance = random.Random(seed)  # noqa: S311
        return mended(harness, atheris.Mutate(data, size), chance)[:size]

    place = FOUND / harness
    (place / "found").mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds:.0f}",
        f"-seed={seed}",
        f"-timeout={INPUT_SECONDS}",
        f"-rss_limit_mb={MEMORY >> 20}",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={place}/crash-",
    ]
    atheris.Setup(
        [sys.argv[0], *options, str(place / "found"), str(CORPUS / harness)],
        one,
        custom_mutator=change,
    )
    atheris.Fuzz()
    return 0


def main() -> int:
    """Fuzz each harness in a process of its own; 1 when one was broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("harness", nargs="*", choices=[*NAMES, []], help="all of them by default")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=["auto", "atheris", "mutations"], default="auto")
    parser.add_argument("--write-corpus", action="store_true", help="write the seeds and end")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.write_corpus:
        from tests.fuzz.seeds import write_corpus

        print(f"{write_corpus()} seeds in tests/fuzz/corpus")
        return 0
    has_atheris = find_spec("atheris") is not None
    engine = {"auto": "atheris" if has_atheris else "mutations"}.get(options.engine, options.engine)
    if options.inside:
        run = guided if engine == "atheris" else mutations
        return int(run(options.harness[0], options.seconds, options.seed) > 0)
    broken = 0
    for harness in options.harness or NAMES:
        argv = [sys.executable, __file__, harness, "--inside", "--engine", engine]
        argv += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
        broken += subprocess.run(argv, cwd=ROOT, env=dict(os.environ), check=False).returncode != 0
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
