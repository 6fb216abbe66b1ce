"""Unit flags of accumulators: awaited and set by the phases of products and stores.

A product of phase ``final`` sets the flag of its accumulator; a move out of it of phase ``final`` waits for
the flag and clears it; a product of either phase waits until it is clear. A flag is clear before the kernel,
and must be afterwards: the next kernel with phases waits for that.
Source: pto-isa headers at 3186c381 (AccPhase, STPhase); PTOAS issue 1419, pypto issue 2396.
"""

from __future__ import annotations

from ....spec.pto.text.syntax import Attributes
from ..pipes.access_history import Pipe
from ..pipes.queues import Pipes
from ..text.errors import unsupported
from .tile_buffers import TileBuffer, TileMemory

FINAL, PARTIAL = "final", "partial"

_NONE = ("unspecified", "unknown", "none")


def phase_of(attributes: Attributes, name: str) -> str | None:
    """Return the phase that an attribute of a name, in lower case, gives; None without one.

    Raises
    ------
    EndedError
        If there is no such phase.
    """
    for key, value in attributes:
        if key.lower() == name:
            plain = value.lower().rstrip("> ").replace("<", " ").replace(".", " ").split()[-1]
            if plain in _NONE:
                return None
            if plain not in (FINAL, PARTIAL):
                raise unsupported(f"{key} = {value}")
            return plain
    return None


class UnitFlags:
    """The unit flags of one core, in one block.

    Parameters
    ----------
    pipes : Pipes
        The core's.
    """

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._names: dict[tuple[TileMemory, int], str] = {}
        self._finals: set[str] = set()

    def before_product(self, accumulator: TileBuffer, phase: str | None, line: int) -> None:
        """Make a product with a phase wait until what it multiplies into was stored."""
        name = self._name(accumulator)
        if phase is not None and name in self._finals:
            self._pipes.wait_unit(Pipe.FIX, Pipe.M, name, line)
            self._finals.remove(name)

    def after_product(self, accumulator: TileBuffer, phase: str | None, line: int) -> None:
        """Set the flag behind the last product into an accumulator."""
        if phase == FINAL:
            name = self._name(accumulator)
            self._pipes.set_unit(Pipe.M, Pipe.FIX, name, line)
            self._finals.add(name)

    def before_store(self, accumulator: TileBuffer, phase: str | None, line: int) -> None:
        """Make a store with a phase wait for the last product into what it stores."""
        if phase == PARTIAL:
            raise unsupported(f"a move out of {accumulator.name} of phase {phase}")
        if phase is not None:
            self._pipes.wait_unit(Pipe.M, Pipe.FIX, self._name(accumulator), line)

    def after_store(self, accumulator: TileBuffer, phase: str | None, line: int) -> None:
        """Clear the flag behind a store."""
        if phase is not None:
            self._pipes.set_unit(Pipe.FIX, Pipe.M, self._name(accumulator), line, lasting=True)

    def _name(self, accumulator: TileBuffer) -> str:
        place = accumulator.memory, accumulator.address
        return self._names.setdefault(place, f"the unit flag of {accumulator.name}")
