"""Operands that products keep in collector buffers: A, and B of ``.ws``.

A buffer changes no value of a correct kernel: ``.use`` and ``.lastuse`` ask for the operand that the same
thread put there last, ``.fill``, and that memory still holds. Source: PTX ISA 9.1 section 9.7.16
(tcgen05.mma, collector buffers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...conditions.feasible_conditions import differ_for_some
from ...findings.finding import Kind
from ...terms.interning import Ids
from ..state.execution import Execution
from ..state.held import Held


@dataclass(frozen=True)
class Collector:
    """What a product does with a buffer.

    Attributes
    ----------
    buffer : str
        Its name: ``a``, or ``b0`` to ``b3``.
    does : str
        ``fill``, ``use``, ``lastuse`` or ``discard``.
    """

    buffer: str
    does: str

    @classmethod
    def of(cls, modifiers: tuple[str, ...], *, ws: bool) -> Collector:
        """Return that of a product, which discards A, or B of the first buffer, if it spells none."""
        spelled = next((word for word in modifiers if word.startswith("collector::")), None)
        if spelled is None:
            return cls("b0" if ws else "a", "discard")
        _, buffer, does = spelled.split("::")
        return cls(buffer, does)

    @property
    def reuses(self) -> bool:
        """Whether the operand may come from the buffer."""
        return self.does in ("use", "lastuse")


@dataclass(frozen=True)
class Operand:
    """An operand as it may be kept.

    Attributes
    ----------
    place : int
        The matrix descriptor, or the address in tensor memory.
    form : tuple
        What else a product says: how it is spelled, but for the buffer; its descriptor; metadata.
    elements : array
        The elements.
    thread, line : int
        Who used it, and where.
    """

    place: int
    form: tuple[object, ...]
    elements: Ids
    thread: int
    line: int


class KeptOperands(Held):
    """What the buffers of the blocks of a batch hold."""

    KEY = "kept operands"

    def __init__(self) -> None:
        self._filled: dict[tuple[tuple[int, ...], str], Operand] = {}
        self._users: dict[tuple[int, ...], set[tuple[int, str]]] = {}
        self._reusing: set[tuple[int, ...]] = set()

    def note(
        self, execution: Execution, collector: Collector, operand: Operand, blocks: tuple[int, ...]
    ) -> None:
        """Note what a product of some blocks does with a buffer; report a use of what is not there.

        Raises
        ------
        UnsupportedError
            If no source says whether it is there.
        """
        users = self._users.setdefault(blocks, set())
        users.add((operand.thread, collector.buffer[0]))
        if collector.reuses:
            self._reusing.add(blocks)
        if blocks in self._reusing and len(users) > 1:
            execution.unsupported(
                f"{execution.instruction.mnemonic}: operands are kept in a block whose products are issued "
                "by several threads, or with and without .ws"
            )
        key = blocks, collector.buffer
        if collector.reuses:
            self._check(execution, collector, self._filled.get(key), operand)
        if collector.does == "fill":
            self._filled[key] = operand
        elif collector.does != "use":
            self._filled.pop(key, None)

    def _check(
        self, execution: Execution, collector: Collector, kept: Operand | None, operand: Operand
    ) -> None:
        reuses, thread = f"{execution.instruction.mnemonic} reuses", np.array([operand.thread])
        if kept is None:
            message = f"{reuses} a buffer that is empty: no .fill before it, or a discard or .lastuse between"
            execution.report(Kind.UNDEFINED, message, thread)
            return
        what, filled = collector.buffer[0].upper(), f"line {kept.line} has filled the buffer"
        changed = kept.elements != operand.elements if self._are_alike(kept, operand) else np.array(True)
        if kept.place != operand.place and changed.any():
            message = f"{reuses} another {what} than {filled} with"
            execution.report(Kind.UNDEFINED, message, thread, other_line=kept.line)
        elif kept.place != operand.place or kept.form != operand.form:
            execution.unsupported(
                f"{reuses} {what} where {filled} by other descriptors: no document says whether that is the "
                "same operand"
            )
        elif changed.any():
            message = f"{reuses} {what}, which was written after {filled}"
            if not differ_for_some(execution.store, kept.elements[changed], operand.elements[changed]):
                execution.unsupported(f"{message}, with what is not shown to be the same")
            execution.report(Kind.UNDEFINED, message, thread, other_line=kept.line)

    @staticmethod
    def _are_alike(kept: Operand, operand: Operand) -> bool:
        return kept.elements.shape == operand.elements.shape
