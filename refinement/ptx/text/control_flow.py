"""Control flow graph of a function: basic blocks and reconvergence points.

A warp that a branch splits is whole again at the branch's immediate post-dominator: the first block that
every way from it to the end passes through.

Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001, on the reversed graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....spec.errors import UnsupportedError
from .module import Function, InstructionStatement
from .operands import Label

_LEAVING = frozenset({"ret", "exit", "trap"})


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block.

    Attributes
    ----------
    start, stop : int
        Range of the function's body.
    successors : tuple of int
        Blocks that may come next; the number of blocks stands for the end of the function.
    """

    start: int
    stop: int
    successors: tuple[int, ...]


@dataclass(frozen=True)
class ControlFlow:
    """The control-flow graph of a function.

    Attributes
    ----------
    blocks : tuple of Block
        In the order of the body; the first is the entry.
    block_of : tuple of int
        Block of every instruction.
    post_dominators : tuple of int or None
        Immediate post-dominator of every block; the number of blocks stands for the end of the function,
        None for a block that never gets there.
    """

    blocks: tuple[Block, ...]
    block_of: tuple[int, ...]
    post_dominators: tuple[int | None, ...]

    @property
    def end(self) -> int:
        """Index behind the last instruction."""
        return len(self.block_of)

    def reconvergence(self, index: int) -> int | None:
        """Return where threads meet that an instruction separates.

        Parameters
        ----------
        index : int
            Index of a branch in the body.

        Returns
        -------
        int or None
            Index of the instruction where they meet, `end` if only there; None if never.
        """
        block = self.post_dominators[self.block_of[index]]
        if block is None:
            return None
        return self.end if block == len(self.blocks) else self.blocks[block].start


def control_flow(function: Function, path: str = "") -> ControlFlow:
    """Return the control-flow graph of a function.

    Parameters
    ----------
    function : Function
        With a body.
    path : str
        The file, for messages.

    Raises
    ------
    UnsupportedError
        If a branch goes where a register says (``brx.idx``).
    """
    body = function.body
    leaders = {0, *function.labels.values()}
    leaders |= {index + 1 for index, instruction in enumerate(body) if _ends_block(instruction)}
    starts = sorted(leader for leader in leaders if leader < len(body))
    number = {start: block for block, start in enumerate(starts)}
    number[len(body)] = len(starts)
    stops = [*starts[1:], len(body)] if starts else []
    blocks = []
    for start, stop in zip(starts, stops, strict=True):
        successors = _successors(function, stop - 1, path)
        blocks.append(Block(start, stop, tuple(dict.fromkeys(number[successor] for successor in successors))))
    block_of = tuple(block for block, each in enumerate(blocks) for _ in range(each.start, each.stop))
    return ControlFlow(
        tuple(blocks), block_of, tuple(immediate_post_dominators([block.successors for block in blocks]))
    )


def immediate_post_dominators(successors: Sequence[Sequence[int]]) -> list[int | None]:
    """Return the immediate post-dominator of every node of a graph.

    Parameters
    ----------
    successors : sequence of sequence of int
        By node; the number of nodes stands for the end.

    Returns
    -------
    list of int or None
        None for a node from which there is no way to the end.
    """
    end = len(successors)
    predecessors: list[list[int]] = [[] for _ in range(end + 1)]
    for node, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(node)
    order = _postorder(predecessors, end)
    rank = {node: position for position, node in enumerate(order)}
    nearest: dict[int, int] = {end: end}

    def common(first: int, second: int) -> int:
        while first != second:
            if rank[first] < rank[second]:
                first = nearest[first]
            else:
                second = nearest[second]
        return first

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            candidates = [target for target in successors[node] if target in nearest]
            new = candidates[0]
            for candidate in candidates[1:]:
                new = common(new, candidate)
            if nearest.get(node) != new:
                nearest[node] = new
                changed = True
    return [nearest.get(node) for node in range(end)]


def _postorder(targets: Sequence[Sequence[int]], root: int) -> list[int]:
    """Return the nodes that a root reaches, each behind those that it leads to first; the root is last."""
    order: list[int] = []
    seen = {root}
    pending = [(root, iter(targets[root]))]
    while pending:
        node, rest = pending[-1]
        target = next((each for each in rest if each not in seen), None)
        if target is None:
            order.append(node)
            pending.pop()
        else:
            seen.add(target)
            pending.append((target, iter(targets[target])))
    return order


def _ends_block(instruction: InstructionStatement) -> bool:
    return instruction.opcode in _LEAVING or instruction.opcode in {"bra", "brx"}


def _successors(function: Function, index: int, path: str) -> list[int]:
    """Return the indices of the instructions that may run after one."""
    instruction = function.body[index]
    following = [index + 1]
    if not _ends_block(instruction):
        return following
    if instruction.opcode in _LEAVING:
        targets = [len(function.body)]
    else:
        target = instruction.operands[0] if instruction.operands else None
        if not isinstance(target, Label):
            where = f"{path}:{instruction.line}"
            raise UnsupportedError(
                f"{where}: {instruction.mnemonic} to {target} is not supported, only bra to a label"
            )
        targets = [function.labels[target.name]]
    return following + targets if instruction.predicate else targets
