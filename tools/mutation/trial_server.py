"""A process that has imported what the specification needs, but not the specification, and forks for trials.

It reads a JSON line ``{"limit": …, "trial": {…}}`` from standard input, and writes one with what came out.
It ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from importlib import import_module
from typing import Any

from .trial import Trial, outcome

NEEDED = ("numpy", "ml_dtypes", "z3", "sympy", "lark", "bitwuzla", "cvc5", "decimal", "sqlite3")
"""What takes long to import and no fault can change; whatever of it is installed."""


def main() -> None:
    """Serve until standard input ends."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for name in NEEDED:
        try:
            import_module(name)
        except ImportError:
            continue
    for line in sys.stdin:
        request = json.loads(line)
        answer = _forked(Trial(**request["trial"]), request["limit"])
        channel.write(json.dumps(answer) + "\n")
        channel.flush()


def _forked(trial: Trial, limit: float) -> dict[str, Any]:
    """Return what came out of a trial in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run(trial, writing)
    os.close(writing)
    try:
        said = _read(reading, limit)
    finally:
        os.close(reading)
    if said is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if said is None:
        return {"outcome": "timeout", "message": f"no end after {limit:.0f} s"}
    if not said:
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:  # by whoever is short of memory: that says nothing of the fault
            return {"outcome": "timeout", "message": "the process was killed"}
        return {"outcome": "error", "message": f"the process ended with exit code {code}"}
    answer: dict[str, Any] = json.loads(said)
    return answer


def _run(trial: Trial, writing: int) -> None:
    """Write what comes out of a trial, and end the process."""
    code = 1
    try:
        with os.fdopen(writing, "w", encoding="utf-8") as stream:
            json.dump(outcome(trial), stream)
        code = 0
    finally:
        os._exit(code)


def _read(reading: int, limit: float) -> bytes | None:
    """Return what is written until the end; None when that takes longer."""
    end = time.monotonic() + limit
    parts: list[bytes] = []
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None


if __name__ == "__main__":
    main()
