"""A weak topological order of code: which of two paths runs first, and where they meet.

The code of a function is ordered weakly: loops within loops, each with the place where it is
entered, and between them an order in which every step goes forward, but for those back to such a place
(F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993). With how often each loop has
gone round, that orders the moments of two ways: where the one behind always goes first, they meet at the
first place that both come to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..image.instruction_forms import Instruction
from ..image.program import Image

MOST_PLACES = 1 << 14
"""Instructions of a function that are looked at."""

COUNT = 32
"""CTR, beside the general-purpose registers."""

_SPECIAL_COUNT = 9
_READING = ("st", "cmp", "mt")
"""How instructions begin that read the register that they name first."""

Level = tuple[int, int | None]
"""Where a place comes among its neighbours, and where the loop that it lies in is entered, if in one."""

Position = tuple[float, ...]
"""Of a way; the least is behind."""

_END = float("inf")


class CodeOrder:
    """The order of the code of a function.

    Parameters
    ----------
    image : Image
        The program.
    start : int
        Where the function begins.
    """

    def __init__(self, image: Image, start: int) -> None:
        self._image = image
        following = self._reached(start)
        self._levels: dict[int, tuple[Level, ...]] = {}
        self._read: dict[tuple[int, int], bool] = {}
        pending: list[tuple[int, Mapping[int, Sequence[int]], tuple[Level, ...]]] = [(start, following, ())]
        while pending:
            first, graph, above = pending.pop()
            for index, members in enumerate(reversed(_components(first, graph))):
                entry = members[-1]
                if len(members) == 1 and entry not in graph[entry]:
                    self._levels[entry] = (*above, (index, None))
                    continue
                inside = set(members)
                cut = {
                    member: [to for to in graph[member] if to in inside and to != entry] for member in members
                }
                pending.append((entry, cut, (*above, (index, entry))))

    def __contains__(self, at: int) -> bool:
        return at in self._levels

    def _reached(self, start: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        pending = [start]
        while pending and len(found) < MOST_PLACES:
            at = pending.pop()
            if at not in found:
                found[at] = self._following(at)
                pending += found[at]
        return {at: [each for each in following if each in found] for at, following in found.items()}

    def _following(self, at: int) -> list[int]:
        """Return where an instruction may lead; behind a call its return."""
        instruction = self._image.instruction(at)
        if isinstance(instruction, str):
            return []
        behind = at + instruction.size
        always = bool(instruction.values) and instruction.values[0] & 20 == 20
        match instruction.mnemonic:
            case "b":
                return [at + instruction.values[0]]
            case "bc":
                target = at + instruction.values[2]
                return [target] if always else [target, behind]
            case "bclr" | "bcctr":
                return [] if always else [behind]
        return [behind]

    def is_read(self, register: int, at: int) -> bool:
        """Tell whether a register, or CTR, seems to be read behind a place before it is written."""
        if (register, at) not in self._read:
            self._read[register, at] = self._seems_read(register, at)
        return self._read[register, at]

    def _seems_read(self, register: int, at: int) -> bool:
        seen, pending = set[int](), [at]
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = self._image.instruction(place)
            if isinstance(instruction, str):
                continue
            used = _use_of_count(instruction) if register == COUNT else _use(instruction, register)
            if used == "read":
                return True
            if used is None:
                pending += self._following(place)
        return False

    def position(self, at: int, rounds: Mapping[int, int]) -> Position:
        """Return the position of a way at a place, given how often it went round each loop.

        What is not in the function's code comes last.
        """
        if at not in self._levels:
            return (_END, float(at))
        found: list[float] = []
        for index, entry in self._levels[at]:
            found.append(index)
            if entry is not None:
                found.append(rounds.get(entry, 0))
        return tuple(found)

    def is_end(self, position: Position) -> bool:
        """Tell whether a position is behind all code of the function."""
        return position[0] == _END

    def step(self, before: int, at: int, rounds: dict[int, int]) -> None:
        """Count a round of the loop that a step enters, or goes round."""
        levels = self._levels.get(at, ())
        if len(levels) < 2 or levels[-2][1] != at:
            return
        depth = len(levels) - 1
        around = [entry for _, entry in self._levels.get(before, ())[:depth]]
        inside = len(around) == depth and around[-1] == at
        rounds[at] = rounds.get(at, 0) + 1 if inside else 0


def _components(start: int, graph: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected parts, what they lead to first; last of each the one reached first.

    R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    numbers: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_places: list[int] = []
    is_open: set[int] = set()
    found: list[list[int]] = []
    stack = [(start, iter(graph[start]))]
    numbers[start] = lowest[start] = 0
    open_places.append(start)
    is_open.add(start)
    while stack:
        at, following = stack[-1]
        fresh = next((each for each in following if each not in numbers or each in is_open), None)
        if fresh is None:
            stack.pop()
            if stack:
                above = stack[-1][0]
                lowest[above] = min(lowest[above], lowest[at])
            if lowest[at] == numbers[at]:
                found.append([])
                while not found[-1] or found[-1][-1] != at:
                    found[-1].append(open_places.pop())
                is_open.difference_update(found[-1])
        elif fresh in numbers:
            lowest[at] = min(lowest[at], numbers[fresh])
        else:
            numbers[fresh] = lowest[fresh] = len(numbers)
            open_places.append(fresh)
            is_open.add(fresh)
            stack.append((fresh, iter(graph[fresh])))
    return found


def _use(instruction: Instruction, register: int) -> str | None:
    """Return what an instruction seems to do with a general-purpose register."""
    operands = zip(instruction.form.operands, instruction.values, strict=True)
    named = [at for at, (each, value) in enumerate(operands) if each.register == "r" and value == register]
    if not named:
        return None
    return "written" if named == [0] and not instruction.mnemonic.startswith(_READING) else "read"


def _use_of_count(instruction: Instruction) -> str | None:
    match instruction.mnemonic:
        case "bc" | "bclr" if not instruction.values[0] & 4:
            return "read"
        case "bcctr" | "bcctrl":
            return "read"
        case "mtspr" if instruction.values[0] == _SPECIAL_COUNT:
            return "written"
    return None
