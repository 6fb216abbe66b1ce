"""Regions between a branch and its post-dominator: whether both sides may run, live registers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ....spec.ptx.operands import Address
from ..instruction_set import POINTWISE
from ..scalar.hints import WITHOUT_EFFECT
from ..scalar.specified import CARRY, TAKE_CARRY
from ..text.control_flow import ControlFlow
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names

LONGEST = 1024
"""Instructions between a branch on data and where its ways meet, at most."""

LOADS = frozenset({"ld", "ldu"})
STORES = frozenset({"st"})
ATOMICS = frozenset({"atom", "red"})
_MATRIX = frozenset({"mma", "wmma", "ldmatrix"})
"""Opcodes that write the fragment that they name first, but for stores."""

_FLOW = frozenset({"bra", "ret", "exit"})
COMPUTING = frozenset({*POINTWISE, *WITHOUT_EFFECT, *_FLOW, "cvta"})
"""Opcodes that read and write registers only, or move the flow of control."""

_ALONE = COMPUTING | LOADS | STORES | ATOMICS
"""Opcodes that do nothing to other threads, but through memory."""

EXCHANGES = frozenset({"shfl", "vote", "redux", "match"})
"""Opcodes by which threads of a warp tell each other what they hold, and do nothing else."""


class BranchRegions:
    """The regions of a function's branches.

    Parameters
    ----------
    function : Function
        The function.
    flow : ControlFlow
        Its blocks.
    """

    def __init__(self, function: Function, flow: ControlFlow) -> None:
        self._function = function
        self._flow = flow
        self._refusals: dict[tuple[int, bool], str] = {}

    def refusal(self, branch: int, *, warps: bool = False) -> str:
        """Return why the ways from a branch can't be run one after the other; empty if they can.

        Parameters
        ----------
        branch : int
            Its index in the body.
        warps : bool
            Whether all threads of a warp go the same way, so that they may exchange what they hold.
        """
        if (branch, warps) not in self._refusals:
            self._refusals[branch, warps] = self._why_not(branch, _ALONE | EXCHANGES if warps else _ALONE)
        return self._refusals[branch, warps]

    def _why_not(self, branch: int, allowed: frozenset[str]) -> str:
        body, meet = self._function.body, self._flow.reconvergence(branch)
        if meet is None:
            return "its ways never meet"
        found = self._region(branch, meet)
        for index in sorted(found):
            if body[index].opcode not in allowed:
                return f"it controls {body[index].mnemonic} in line {body[index].line}"
        if len(found) > LONGEST:
            return f"it controls {len(found)} instructions; at most {LONGEST}"
        return ""

    def invalidations(self, branch: int) -> list[int]:
        """Return the lines of ``mbarrier.inval`` over which a branch decides, if over nothing else."""
        meet = self._flow.reconvergence(branch)
        if meet is None:
            return []
        found, body = self._region(branch, meet), self._function.body
        lines, written = list[int](), set[str]()
        for index in sorted(found):
            each = body[index]
            if each.opcode == "mbarrier" and each.has("inval"):
                lines.append(each.line)
            elif each.opcode not in POINTWISE and each.opcode != "bra":
                return []
            written |= results(each)
        return [] if branch in found or written & self.read_behind(meet) else lines

    def between(self, branch: int) -> set[int]:
        """Return the instructions that may run between a branch and where its ways meet, if they do."""
        meet = self._flow.reconvergence(branch)
        return set() if meet is None else self._region(branch, meet)

    def _region(self, branch: int, meet: int) -> set[int]:
        """Return the instructions that may run between a branch and where its ways meet."""
        blocks = self._flow.blocks
        block_of = [*self._flow.block_of, len(blocks)]
        end = block_of[meet]
        found: set[int] = set()
        pending = [successor for successor in blocks[block_of[branch]].successors if successor != end]
        seen = set(pending)
        while pending:
            block = blocks[pending.pop()]
            found.update(range(block.start, block.stop))
            for successor in block.successors:
                if successor != end and successor not in seen and successor < len(blocks):
                    seen.add(successor)
                    pending.append(successor)
        return found

    def read_behind(self, index: int) -> frozenset[str]:
        """Return the registers that are read, at or behind the beginning of a block, before they are written.

        There may be more than are.
        """
        return self._live[self._flow.block_of[index]] if index < self._flow.end else frozenset()

    def live_at(self, places: Iterable[int]) -> frozenset[str]:
        """Return the registers that may be read from some instructions on."""
        found = frozenset[str]()
        for index in places:
            if index >= self._flow.end:
                continue
            number = self._flow.block_of[index]
            block = self._flow.blocks[number]
            read, written = self._effect(self._function.body[index : block.stop])
            behind = frozenset[str]().union(*(self._live[successor] for successor in block.successors))
            found |= read | (behind - written)
        return found

    @cached_property
    def _live(self) -> list[frozenset[str]]:
        blocks = self._flow.blocks
        live: list[frozenset[str]] = [frozenset()] * (len(blocks) + 1)
        effects = [self._effect(self._function.body[block.start : block.stop]) for block in blocks]
        changed = True
        while changed:
            changed = False
            for number in reversed(range(len(blocks))):
                read, written = effects[number]
                behind = frozenset[str]().union(*(live[successor] for successor in blocks[number].successors))
                found = read | (behind - written)
                changed |= found != live[number]
                live[number] = found
        return live

    def _effect(self, body: Iterable[InstructionStatement]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the registers that instructions read before they write them, and those that they write."""
        read, written = set[str](), set[str]()
        for instruction in body:
            written_here = results(instruction)
            guard = instruction.predicate
            rest = [*instruction.operands[1:]] if written_here else [*instruction.operands]
            names = set(register_names(rest)) | (set() if guard is None else {guard.name})
            names |= {CARRY.name} if instruction.opcode in TAKE_CARRY else set()
            read |= names - written
            if guard is None:
                written |= written_here
            else:
                read |= written_here - written
        return frozenset(read), frozenset(written)


def results(instruction: InstructionStatement) -> set[str]:
    """Return registers that an instruction is certain to write."""
    first = instruction.operands[0] if instruction.operands else None
    answers = instruction.opcode == "mbarrier" and not isinstance(first, Address)
    writes = answers or instruction.opcode in {*POINTWISE, *LOADS, *_MATRIX, "atom"}
    if not writes or instruction.has("store"):
        return set()
    return {*register_names(instruction.operands[:1]), *((CARRY.name,) if instruction.has("cc") else ())}
