"""The pipes of a core: concurrent queues, and the order that a kernel puts between them.

``set_flag`` is done when its pipe has done all before it; ``wait_flag`` holds its pipe until then, and takes
the flag. ``pto.barrier`` of all pipes is the end of all before it. A flag is either set or not. A pipe that
runs ahead may set one before the wait for the last time it did: public kernels do, so that this is an
assumption of the verdict.
Source: PTO IR manual; pto-isa headers at 3186c381 (events).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from .access_history import PIPES, Pipe, Stamp

Report = Callable[[Kind, str, int], None]
"""Takes a finding's kind, its message and its line."""

Run = Callable[[Stamp], None]
"""Runs an operation."""

Ready = Callable[[], bool]
"""Tells whether what an operation waits for from another core is there."""

Flag = tuple[Pipe, Pipe, str]
"""From a pipe, to a pipe, and the event's name."""


@dataclass
class _Issued:
    """Something in the queue of a pipe."""

    line: int
    run: Run | None = None
    name: str = ""
    sets: Flag | None = None
    waits: Flag | None = None
    ready: Ready | None = None
    settles: bool = False


@dataclass
class _Queue:
    """A pipe; `settled` is as of a `Stamp`."""

    seen: NDArray[np.int64]
    settled: int = 0
    waiting: deque[_Issued] = field(default_factory=deque)


class Pipes:
    """The pipes of one core.

    Parameters
    ----------
    explicit : bool
        Whether the kernel puts them in order itself; else all is done in the order of the text.
    report : callable
        Takes findings.
    assumptions : dict of str to None
        Takes what the order rests on besides.
    """

    def __init__(self, report: Report, assumptions: dict[str, None], *, explicit: bool) -> None:
        self._explicit = explicit
        self._report = report
        self._assumptions = assumptions
        self._queues = {pipe: _Queue(np.zeros(len(PIPES), dtype=np.int64)) for pipe in PIPES}
        self._set: dict[Flag, tuple[NDArray[np.int64], int]] = {}
        self._taken: dict[Flag, tuple[int, int]] = {}
        self._lasting: set[Flag] = set()
        self._counted: set[Flag] = set()
        self.stamps: list[Stamp] = []
        self.stuck = False

    @property
    def explicit(self) -> bool:
        """Whether the kernel puts pipes in order itself."""
        return self._explicit

    def issue(self, pipe: Pipe, line: int, name: str, run: Run, ready: Ready | None = None) -> None:
        """Hand an operation to a pipe, which holds it until it is ready."""
        self._enqueue(pipe if self._explicit else Pipe.S, _Issued(line, run, name, ready=ready))

    def set_flag(self, source: Pipe, target: Pipe, event: str, line: int) -> None:
        """Set a flag when a pipe has come so far."""
        if self._explicit:
            self._enqueue(source, _Issued(line, sets=(source, target, event)))

    def wait_flag(self, source: Pipe, target: Pipe, event: str, line: int) -> None:
        """Hold a pipe until a flag is set."""
        if self._explicit:
            self._enqueue(target, _Issued(line, waits=(source, target, event)))
            if target is Pipe.S and self._queues[Pipe.S].waiting:
                self.stop()

    def set_unit(self, source: Pipe, target: Pipe, unit: str, line: int, *, lasting: bool = False) -> None:
        """Set the flag of a unit that pipes share, whoever orders them; a lasting one may be left set."""
        flag = (source, target, unit)
        if lasting:
            self._lasting.add(flag)
        self._enqueue(source if self._explicit else Pipe.S, _Issued(line, sets=flag))

    def wait_unit(self, source: Pipe, target: Pipe, unit: str, line: int) -> None:
        """Hold a pipe until the flag of a unit is set, whoever orders the pipes."""
        self._enqueue(target if self._explicit else Pipe.S, _Issued(line, waits=(source, target, unit)))

    def settle(self, pipe: Pipe, line: int) -> None:
        """Let a pipe go on when what it has begun is over."""
        if self._explicit:
            self._enqueue(pipe, _Issued(line, settles=True))

    def barrier(self) -> None:
        """Wait for all pipes."""
        if not self._explicit:
            return
        self.stop()
        everything = np.max([queue.seen for queue in self._queues.values()], axis=0)
        for number, queue in enumerate(self._queues.values()):
            queue.seen, queue.settled = everything.copy(), int(everything[number])

    def stop(self) -> None:
        """Wait until every pipe is done; what none of them ever sets is a deadlock."""
        held = {pipe: queue.waiting for pipe, queue in self._queues.items() if queue.waiting}
        behind = {each.sets for waiting in held.values() for each in waiting if each.sets is not None}
        first = {pipe: waiting[0] for pipe, waiting in held.items()}
        causes = [pipe for pipe, issued in first.items() if issued.waits not in behind]
        for pipe in causes or first:
            if (flag := first[pipe].waits) is None:
                message = f"{first[pipe].name} waits for a tile that the other core never pushes"
                self._report(Kind.DEADLOCK, message, first[pipe].line)
                continue
            source, _, event = flag
            never = "which is never set" if causes else f"which {source} sets only after a wait of its own"
            count = sum(each.run is not None for waiting in held.values() for each in waiting)
            rest = f"; {count} instructions never run" if count else ""
            self._report(
                Kind.DEADLOCK, f"{pipe} waits for {event} of {source}, {never}{rest}", first[pipe].line
            )
        for waiting in held.values():
            waiting.clear()
        self.stuck |= bool(held)

    def finish(self) -> None:
        """Come to the end of the kernel."""
        self.stop()
        for (source, target, event), (_, line) in self._set.items():
            if (source, target, event) in self._lasting:
                continue
            self._report(
                Kind.UNDEFINED,
                f"{event} from {source} to {target} is still set at the end: no wait clears it, so the "
                "next kernel finds it set",
                line,
            )

    # -- details
    def _enqueue(self, pipe: Pipe, issued: _Issued) -> None:
        self._queues[pipe].waiting.append(issued)
        self.advance()

    def advance(self) -> bool:
        """Run what can run now, and tell whether there was something."""
        done = False
        while any(self._advance(pipe) for pipe in PIPES):
            done = True
        return done

    def _advance(self, pipe: Pipe) -> bool:
        """Run what a pipe can run now, and tell whether there was something."""
        queue, done = self._queues[pipe], False
        while queue.waiting:
            issued = queue.waiting[0]
            if issued.waits is not None:
                if issued.waits not in self._set:
                    return done
                seen, _ = self._set.pop(issued.waits)
                queue.settled = max(queue.settled, int(seen[PIPES.index(pipe)]))
                queue.seen = np.maximum(queue.seen, seen)
                queue.seen[PIPES.index(pipe)] += 1
                self._taken[issued.waits] = int(queue.seen[PIPES.index(pipe)]), issued.line
            if issued.ready is not None and not issued.ready():
                return done
            queue.waiting.popleft()
            done = True
            if issued.settles:
                queue.settled = int(queue.seen[PIPES.index(pipe)])
            if issued.sets is not None:
                self._mark(issued.sets, queue, issued.line)
            if issued.run is not None:
                issued.run(self._stamp(pipe, queue, issued))
        return done

    def _mark(self, flag: Flag, queue: _Queue, line: int) -> None:
        source, target, event = flag
        if flag in self._set and flag not in self._lasting:
            self._report(
                Kind.UNDEFINED,
                f"sets {event} from {source} to {target}, which is set already, in line "
                f"{self._set[flag][1]}: one of the two is lost",
                line,
            )
        ordinal, wait = self._taken.get(flag, (0, 0))
        if queue.seen[PIPES.index(target)] < ordinal and flag not in self._lasting | self._counted:
            self._counted.add(flag)
            self._assumptions.setdefault(
                f"{event} from {source} to {target} counts how often it is set: line {line} may set it "
                f"before the wait in line {wait} clears it"
            )
        self._set[flag] = queue.seen.copy(), line

    def _stamp(self, pipe: Pipe, queue: _Queue, issued: _Issued) -> Stamp:
        number = PIPES.index(pipe)
        queue.seen = queue.seen.copy()
        queue.seen[number] += 1
        place = len(self.stamps), number, int(queue.seen[number])
        stamp = Stamp(*place, queue.seen, issued.line, issued.name, queue.settled)
        self.stamps.append(stamp)
        return stamp
