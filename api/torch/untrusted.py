"""Starts the process that runs host code, and reads what it recorded."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...proofs.cache import default_directory
from ...spec.errors import InputError
from .own_numbers import OF_SIZES, Numbers
from .recording import Recording, from_json
from .sizes import Sizes


@dataclass(frozen=True)
class Part:
    """What became of recording a module.

    Attributes
    ----------
    recording : Recording, optional
        None where there is none.
    reason : str
        Why there is none.
    failed : bool
        Whether its own code failed, and not the recorder.
    """

    recording: Recording | None
    reason: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Recorded:
    """What became of recording a reference and a candidate.

    Attributes
    ----------
    reference : Part
        The reference.
    candidates : tuple of Part
        The candidate, in each configuration of its autotuner.
    configurations : int
        How many configurations there are; not all need be among `candidates`.
    sizes : mapping
        The sizes that were taken.
    work : int
        About how many operations the reference has.
    open : tuple of str
        In what the process was not limited.
    """

    reference: Part
    candidates: tuple[Part, ...]
    configurations: int
    sizes: Sizes
    work: int
    open: tuple[str, ...]


@dataclass(frozen=True)
class Limits:
    """How much host code, and a verification, may take.

    Attributes
    ----------
    seconds : int
        Of processor time, for each of the two modules.
    gigabytes : float
        Of memory.
    configurations : int
        Configurations of an autotuner that are recorded.
    verifying : float
        Seconds of processor time for the verification at one set of sizes, in the calling process.
    own : float
        The same for runs on numbers at the problem's own sizes; 0 for none.
    """

    seconds: int = 120
    gigabytes: float = 16
    configurations: int = 8
    verifying: float = 30
    own: float = 20


@dataclass(frozen=True)
class Modules:
    """A reference and a candidate, and how their host code is run.

    Attributes
    ----------
    problem, solution : Path
        Their files.
    folder : Path
        Where all is written.
    mode : str, optional
        ``train`` or ``eval``; else as they are made.
    target : str
        ``sm_80``.
    limits : Limits
        On the processes.
    """

    problem: Path
    solution: Path
    folder: Path
    mode: str | None
    target: str
    limits: Limits


def recorded(modules: Modules, ladder: Sequence[Sizes], work: int) -> Recorded:
    """Record both modules in processes of their own.

    Raises
    ------
    InputError
        If PyTorch is not installed.
    """
    folder, limits = modules.folder, modules.limits
    said = _asked(modules, ladder, own=False, work=work)
    if said is None:
        most = limits.seconds * (2 + limits.configurations)
        return Recorded(Part(None, f"host code takes more than {most} s"), (), 1, {}, 0, ())
    reference = _answer(folder / "reference.json", said)
    candidates = [_answer(folder / "candidate0.json", said)]
    configurations = int(candidates[0].get("configurations", 1))
    others = range(1, min(configurations, limits.configurations))
    candidates += [_answer(folder / f"candidate{number}.json", said) for number in others]
    sizes = ladder[reference["chosen"]] if "chosen" in reference else {}
    points = dict.fromkeys(
        point for candidate in (reference, *candidates) for point in candidate.get("open", ())
    )
    return Recorded(
        _part(reference),
        tuple(_part(candidate) for candidate in candidates),
        configurations,
        sizes,
        int(reference.get("work", 0)),
        tuple(points),
    )


@dataclass(frozen=True)
class OwnRecorded:
    """What became of both modules at the problem's own sizes.

    Attributes
    ----------
    sizes : mapping
        At which they are, perhaps with a smaller batch.
    candidate : Part
        The candidate.
    numbers : Numbers, optional
        Of the reference.
    reason : str
        Why there are none.
    memory : Recording, optional
        Of the candidate at the problem's own sizes, where `sizes` are none of these.
    """

    sizes: Sizes
    candidate: Part
    numbers: Numbers | None = None
    reason: str = ""
    memory: Recording | None = None


def own_recorded(
    modules: Modules,
    ladder: Sequence[Sizes],
    *,
    all_blocks: bool = False,
    draws: tuple[int, int] = OF_SIZES,
) -> OwnRecorded:
    """Record a candidate at the problem's own sizes, and run the reference on numbers there.

    Of several sets of sizes the first is taken at which that takes neither much memory nor long; with
    `all_blocks` so little that all blocks can be run. What inputs and weights are is said by `draws`.
    """
    folder, limits = modules.folder, modules.limits
    said = _asked(modules, ladder, own=True, all_blocks=all_blocks, draws=draws)
    if said is None:
        return OwnRecorded(ladder[0], Part(None), reason=f"host code takes more than {limits.seconds} s")
    chosen = _answer(folder / "own_sizes.json", said)
    no_memory = chosen.get("chosen") == 0 or all_blocks
    memory = None if no_memory else _part(_answer(folder / "own_memory.json", said)).recording
    if "chosen" not in chosen:
        return OwnRecorded(ladder[0], Part(None), None, f"the reference: {_why(chosen)}", memory)
    sizes = ladder[chosen["chosen"]]
    candidate = _part(_answer(folder / "own_candidate.json", said))
    if candidate.recording is None:
        return OwnRecorded(sizes, candidate, None, f"the candidate: {candidate.reason}", memory)
    reference = _answer(folder / "own_reference.json", said)
    if "arrays" not in reference:
        return OwnRecorded(sizes, candidate, None, f"the reference: {_why(reference)}", memory)
    return OwnRecorded(sizes, candidate, Numbers(folder / "own", reference["arrays"]), "", memory)


def _why(answer: Mapping[str, Any]) -> str:
    return str(answer.get("refused") or answer.get("failed") or "")


def _asked(modules: Modules, ladder: Sequence[Sizes], **what: Any) -> Path | None:
    """Send a request; returns the file of what was said, None where it takes too long."""
    folder, limits = modules.folder, modules.limits
    request = {
        "problem": str(modules.problem.resolve()), "solution": str(modules.solution.resolve()),
        "ladder": list(ladder), "folder": str(folder.resolve()), "kept": str(default_directory()),
        "target": modules.target, "mode": modules.mode, "seconds": limits.seconds,
        "gigabytes": limits.gigabytes, "most_configurations": limits.configurations, **what,
    }  # fmt: skip
    path = folder / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    said = folder / "said.txt"
    said.write_text("", encoding="utf-8")
    return said if _server().does(path, limits.seconds * (2 + limits.configurations)) else None


_START = "import gc; gc.disable(); from mmaproof.api.torch.host_process import main; main()"
"""The program of the process that runs host code; imports make much that no collection frees."""


class _Server:
    """The process that has PyTorch imported, and forks one for each request."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _START]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)

    def does(self, path: Path, seconds: int) -> bool:
        """Tell whether a request is done in time; ends the process where it is not.

        Raises
        ------
        InputError
            If PyTorch is not installed.
        """
        process = self.process
        assert process.stdin and process.stdout and process.stderr
        with suppress(BrokenPipeError):
            process.stdin.write(f"{path.resolve()}\n".encode())
            process.stdin.flush()
        if not select.select([process.stdout], [], [], seconds)[0]:
            self.end()
            return False
        if process.stdout.readline():
            return True
        said = process.stderr.read().decode(errors="replace")
        self.end()
        if "No module named 'torch'" in said:
            raise InputError("modules of PyTorch need PyTorch: install mmaproof[torch]")
        last = said.strip().splitlines()[-1:] or ["it says nothing"]
        raise InputError(f"the process that runs host code does not start: {last[0]}")

    def end(self) -> None:
        """End it, and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


_servers: list[_Server] = []


def _server() -> _Server:
    """Return the process that takes requests; it is started when it is needed first, or has ended."""
    if not _servers or _servers[-1].process.poll() is not None:
        _servers[:] = [_Server()]
        atexit.register(_servers[0].end)
    return _servers[0]


def host_time() -> float:
    """Return the seconds of processor time of the process that takes requests, and of all it has started."""
    stat = Path(f"/proc/{_server().process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")


def _answer(path: Path, said: Path) -> Mapping[str, Any]:
    try:
        answer: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        text = said.read_text(encoding="utf-8", errors="replace")
        last = text.strip().splitlines()[-1:] or ["it says nothing"]
        return {"refused": f"the process that runs host code ended early, beyond its limits: {last[0]}"}
    return answer


def _part(answer: Mapping[str, Any]) -> Part:
    if "recording" in answer:
        return Part(from_json(answer["recording"]))
    return Part(None, answer.get("refused") or answer.get("failed") or "", "failed" in answer)
