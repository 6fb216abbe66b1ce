"""A worker process: reads obligation ids from standard input, writes JSON lines to standard output.

The first line it reads is its `WorkerAssignment`. It writes ``{"phase": …}`` whenever it starts something
that may take long (so that whoever started it can tell a hanging worker from a busy one), and a verdict's
document after each id. It ends when its standard input does, whatever it is doing then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ..smt.portfolio import DEFAULT
from ..spec.errors import MmaproofError, UnsupportedError
from .cache import Cache, fingerprint, remembering
from .memory_limit import limit_memory
from .obligation import FROM_PREMISES, Obligation, Status
from .verdict import Verdict

if TYPE_CHECKING:
    from ..smt.solvers import Answer, Query, Solver
    from .decision import Solve

BRIEF = 0.5
"""Seconds, and again so many for every `CHARACTERS` of its text, that a query decided again has at first."""

CHARACTERS = 100_000

QUICK = 5.0
"""Seconds that each solver has after that, before what takes longest is tried."""

CATALOGUE = "mmaproof.proofs.catalogue:obligations"
"""Where the obligations of mmaproof are."""


@dataclass(frozen=True)
class WorkerAssignment:
    """How obligations are to be decided.

    Attributes
    ----------
    solver : str
        One of `portfolio.CHOICES`.
    timeout : float
        Seconds per query.
    cache : str or None
        Directory of the cache.
    catalogue : str
        ``module:function``; the function returns the obligations by id.
    memory : float or None
        GiB that the process may take.
    again : bool
        Whether what it is given was proved, and is to be decided again by other programs (`recheck`).
    certificates : str or None
        Directory that is to get certificates of what is decided again (`certificates`).
    """

    solver: str
    timeout: float
    cache: str | None = None
    catalogue: str = CATALOGUE
    memory: float | None = None
    again: bool = False
    certificates: str | None = None

    def opened_cache(self) -> Cache | None:
        """Open the cache, if there is one."""
        return None if self.cache is None else Cache(Path(self.cache))

    def obligations(self) -> Mapping[str, Obligation]:
        """Return the obligations of the catalogue by id."""
        module, _, function = self.catalogue.partition(":")
        found: Mapping[str, Obligation] = getattr(import_module(module), function)()
        return found

    def solve(self, cache: Cache | None, started: Callable[[str], None] = lambda phase: None) -> Solve:
        """Return what `decide` asks; `started` is called as phases start."""
        from ..smt.portfolio import solvers_for

        return self._asking(solvers_for(self.solver), cache, started)

    def decider(self, cache: Cache | None, started: Callable[[str], None]) -> Callable[[Obligation], Verdict]:
        """Return what decides an obligation as this assignment says."""
        if not self.again:
            solve = self.solve(cache, started)
            return lambda obligation: decide_or_report(obligation, solve)
        if self.certificates is not None:
            from .certificates import certify

            directory = Path(self.certificates)
            return lambda obligation: reported(
                obligation, lambda: certify(obligation, directory, self.timeout, started)
            )
        from ..smt.portfolio import others, others_for_reals, patient, solvers_for
        from .recheck import Asking, recheck

        def within(seconds: float, solvers: Sequence[Solver]) -> Solve:
            limited = replace(self, timeout=min(self.timeout, seconds))
            return in_turn([limited._asking([solver], cache, started) for solver in solvers])

        def asking(solvers: Sequence[Solver]) -> Asking:
            def briefly(query: Query) -> Answer:
                return within(BRIEF * (1 + len(query.smtlib()) / CHARACTERS), solvers)(query)

            return Asking(within(QUICK, solvers), within(self.timeout, patient(solvers)), briefly)

        other = others(self.solver)
        whom = [asking(each) for each in (other, other or solvers_for(DEFAULT), others_for_reals())]
        return lambda obligation: reported(obligation, lambda: recheck(obligation, *whom))

    def _asking(
        self, back_ends: Sequence[Solver], cache: Cache | None, started: Callable[[str], None]
    ) -> Solve:
        from ..smt.portfolio import ask

        solvers = remembering(back_ends, cache)

        def solve(query: Query) -> Answer:
            try:
                return ask([_Announced(solver, started) for solver in solvers], query, self.timeout)
            finally:
                started("build")

        return solve

    def document(self) -> dict[str, Any]:
        """Return the assignment as a JSON object."""
        return asdict(self)


class _Announced:
    """A solver that says so before it is asked."""

    def __init__(self, solver: Any, started: Callable[[str], None]) -> None:
        self.name: str = solver.name
        self._solver = solver
        self._started = started

    def check(self, query: Query, timeout: float) -> Answer:
        self._started(self.name)
        answer: Answer = self._solver.check(query, timeout)
        return answer


def decide_or_report(obligation: Obligation, solve: Solve) -> Verdict:
    """Decide an obligation; unsupported or out of memory is unknown, any other failure an error."""
    from .decision import decide

    return reported(obligation, lambda: decide(obligation, solve))


def reported(obligation: Obligation, deciding: Callable[[], Verdict]) -> Verdict:
    """Return the verdict, or one that reports why there is none."""
    start = time.perf_counter()
    try:
        return deciding()
    except Exception as reason:
        unknown = isinstance(reason, UnsupportedError | MemoryError)
        text = str(reason) if isinstance(reason, MmaproofError) else f"{type(reason).__name__}: {reason}"
        status = Status.UNKNOWN if unknown else Status.ERROR
        message = " ".join(text.split())
        return Verdict(obligation.id, status, "", time.perf_counter() - start, message=message)


def in_turn(solves: Sequence[Solve]) -> Solve:
    """Ask one after the other until one answers."""
    from ..smt.solvers import Answer

    def solve(query: Query) -> Answer:
        undecided = []
        for each in solves:
            answer = each(query)
            if answer.status != "unknown":
                return answer
            undecided.append(f"{answer.solver}: {answer.message}")
        return Answer("unknown", "", message="; ".join(undecided) or "no other solver is installed")

    return solve


def main() -> None:
    """Serve until standard input ends."""
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not break the protocol

    def send(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    setup = json.loads(lines.get())
    sys.path[:] = setup["path"]
    assignment = WorkerAssignment(**setup["assignment"])
    if assignment.memory is not None:
        limit_memory(assignment.memory)
    cache = assignment.opened_cache()
    state = fingerprint(assignment.solver)  # before the code is imported: what it decides is of this state
    decide = assignment.decider(cache, lambda phase: send({"phase": phase}))
    obligations = assignment.obligations()
    send({"phase": "ready"})
    while True:
        obligation = obligations[lines.get()]
        verdict = decide(obligation)
        final = obligation.method not in FROM_PREMISES and not assignment.again
        if cache is not None and assignment.catalogue == CATALOGUE and final:
            cache.keep_verdict(state, verdict)
        send(verdict.document())


def _read(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line.rstrip("\n"))
    os._exit(0)


if __name__ == "__main__":
    main()
