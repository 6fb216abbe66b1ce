"""Barriers of a block.

Source: PTX ISA 9.1 section 9.7.13.1.
"""

from __future__ import annotations

from interpreter.ptx_integers import Unknown
from interpreter.ptx_threads import STAY, WARP, Barrier, Block, Code, Decoder, Reader, Run, State, Thread

from mmaproof.refinement.ptx.text.module import InstructionStatement


def _present(block: Block, barrier: Barrier) -> int:
    """Return how many threads count as being there: 32 of a warp all of whose living threads are."""
    total = 0
    for first in range(0, len(block.threads), WARP):
        warp = block.threads[first : first + WARP]
        alive = sum(each.state is not State.DONE for each in warp)
        own = sum(each.number // WARP * WARP == first for each in (*barrier.waiting, *barrier.arrived))
        total += WARP * (own // alive) + own % alive if alive else own
    return total


def open_barriers(block: Block) -> None:
    """Let those go on whose barriers are complete."""
    for barrier in block.barriers.values():
        if not barrier.waiting:
            continue
        if barrier.wanted is None:
            complete = len(barrier.waiting) == sum(each.state is not State.DONE for each in block.threads)
        else:
            complete = _present(block, barrier) >= barrier.wanted
        if complete:
            waiting, answers = barrier.waiting, barrier.answers
            barrier.waiting, barrier.arrived, barrier.answers = {}, [], []
            for thread, tell in waiting.items():
                tell(thread, answers)
                thread.state, thread.pc = State.READY, thread.pc + 1


def _barrier(code: Code, i: InstructionStatement) -> Run:
    """Decode ``bar`` and ``barrier``: ``.sync``, ``.arrive`` and ``.red``."""
    operands, reduces = list(i.operands), i.has("red")
    name = i.one_of(("and", "or", "popc"))
    write = code.writer(operands.pop(0), 32 if name == "popc" else 1) if reduces else None
    answer = code.reader(operands.pop(), 1) if reduces else None
    if i.has("cluster") or not operands:
        raise Unknown(i.mnemonic)
    which = code.reader(operands[0], 32)
    count: Reader | None = code.reader(operands[1], 32) if len(operands) > 1 else None

    def tell(thread: Thread, answers: list[int]) -> None:
        if write is not None:
            found = {"and": all(answers), "or": any(answers), "popc": sum(answers)}[name or ""]
            write(thread, int(found))

    def run(thread: Thread) -> int | None:
        barrier = thread.block.barriers.setdefault(which(thread), Barrier())
        barrier.wanted = None if count is None else count(thread)
        if i.has("arrive"):
            barrier.arrived.append(thread)
            open_barriers(thread.block)
            return None
        if answer is not None:
            barrier.answers.append(answer(thread))
        barrier.waiting[thread] = tell
        thread.state = State.WAITING
        open_barriers(thread.block)
        return STAY

    return run


BARRIERS: dict[str, Decoder] = {"bar": _barrier, "barrier": _barrier}
"""How each instruction is decoded."""
