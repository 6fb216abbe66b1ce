"""Pipes of the PTO interpreter: queues of a core, run in any order that flags and barriers leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from random import Random

from mmaproof.spec.pto.tile import Location, Tile

from .pto_tiles import BrokenError

Program = Generator["Callable[[], bool] | None", None, None]
"""A scalar unit at work: yields after each statement, or what it waits for."""


@dataclass
class Issued:
    """Something in a queue: an operation, a flag that it sets or waits for, or what it waits for."""

    run: Callable[[], None] | None = None
    sets: tuple[str, str, str] | None = None
    waits: tuple[str, str, str] | None = None
    ready: Callable[[], bool] | None = None


@dataclass
class Core:
    """One core: its queues, its flags, and its scalar unit."""

    name: str = ""
    queues: dict[str, deque[Issued]] = field(default_factory=dict)
    flags: set[tuple[str, str, str]] = field(default_factory=set)
    program: Program | None = None
    waiting: Callable[[], bool] | None = None

    def issue(self, pipe: str, issued: Issued) -> None:
        """Put something in a queue."""
        self.queues.setdefault(pipe, deque()).append(issued)

    def idle(self) -> bool:
        """Whether every queue is empty."""
        return not any(self.queues.values())

    def choices(self) -> list[str]:
        """Return who can go on: pipes by name, the scalar unit as ``program``."""
        found = [
            pipe
            for pipe, queue in self.queues.items()
            if queue
            and (queue[0].waits is None or queue[0].waits in self.flags)
            and (queue[0].ready is None or queue[0].ready())
        ]
        if self.program is not None and (self.waiting is None or self.waiting()):
            found.append("program")
        return found

    def step(self, chosen: str) -> None:
        """Let one of them go on."""
        if chosen == "program":
            assert self.program is not None
            try:
                self.waiting = next(self.program)
            except StopIteration:
                self.program = None
            return
        issued = self.queues[chosen].popleft()
        if issued.waits is not None:
            self.flags.discard(issued.waits)
        if issued.run is not None:
            issued.run()
        if issued.sets is not None:
            self.flags.add(issued.sets)


def run(cores: list[Core], random: Random | None) -> None:
    """Run cores to their end: in the order of the text, or in an order drawn at random."""
    while any(core.program is not None or not core.idle() for core in cores):
        able = [(core, choice) for core in cores for choice in core.choices()]
        if not able:
            raise BrokenError("a deadlock")
        core, chosen = able[0] if random is None else random.choice(able)
        core.step(chosen)


def buffer_of(tile: Tile) -> Location:
    """Return the buffer of a tile; that of the scale factors of A has them by rows."""
    if (tile.location, tile.fractal) != (Location.SCALING, 32):
        return tile.location
    return Location.SCALE_LEFT if tile.layout_name == "Zz" else Location.SCALE_RIGHT


def move_pipe(source: Location, target: Location) -> str:
    if source is Location.MAT:
        return {Location.SCALING: "FIX", Location.VEC: "V"}.get(target, "MTE1")
    return "V" if (source, target) == (Location.VEC, Location.VEC) else "FIX"
