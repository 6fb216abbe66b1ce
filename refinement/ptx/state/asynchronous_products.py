"""Products of warpgroups under way: the registers and the shared memory that they still use.

A product is computed where it is issued; until its warps have waited for the group that it was committed
to, whoever looks at its registers, or writes where its operands lie, does what PTX leaves undefined.
What others than products use needs a ``wgmma.fence`` before. Source: PTX ISA 9.1 section 9.7.15
(wgmma.fence, wgmma.commit_group, wgmma.wait_group).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.variant import WARPGROUP_WARPS
from ...findings.finding import Kind
from ..order.snapshots import Snapshot
from ..order.vector_clocks import Places
from ..registers.threads import WARP, Indices
from ..text.module import InstructionStatement
from ..text.operands import register_names
from ..text.product_registers import MULTIPLYING
from .execution import Execution, Step
from .held import Held

Warps = NDArray[np.intp]
"""Warps of a batch, by their numbers in it."""

_STORING = ("st", "red")

_MENDED = 'ptxas 13.0 mends it, which wgmma = "as-assembled" in [kernel] takes for granted'
"""What is behind every finding about registers."""


@dataclass(frozen=True)
class ProductRegisters:
    """The registers of one product.

    Attributes
    ----------
    accumulators : frozenset of str
        Those of D.
    multiplicands : frozenset of str
        Those of A; none where it is in shared memory.
    shape : str
        Shape and type of D: products that follow each other on one D need no fence if they are the same.
    """

    accumulators: frozenset[str]
    multiplicands: frozenset[str]
    shape: str

    @property
    def all(self) -> frozenset[str]:
        """All of them."""
        return self.accumulators | self.multiplicands


@dataclass
class _Product:
    """A product that is not waited for.

    Attributes
    ----------
    warps : array (n,)
        Who has not waited.
    group : array (n,)
        How many groups each had committed before.
    registers : ProductRegisters
        What it uses.
    places : array (n, granules)
        What it reads of shared memory.
    times : array (n,)
        The interval in which each issued it.
    line : int
        Where it was issued.
    """

    warps: Warps
    group: NDArray[np.int64]
    registers: ProductRegisters
    places: Places
    times: NDArray[np.int32]
    line: int


@dataclass
class _Uses:
    """The last uses of a register by each warp.

    Attributes
    ----------
    touched, multiplied : array (warps,)
        When others than products used it, and when a product wrote it; 0 for never.
    shape : array (warps,)
        Number of that product's shape.
    line : int
        Where the last of others was.
    """

    touched: NDArray[np.int64]
    multiplied: NDArray[np.int64]
    shape: NDArray[np.int64]
    line: int = 0


@dataclass
class AsynchronousProducts(Held):
    """Products under way of a batch, and uses of registers since the last fences.

    Attributes
    ----------
    warps : int
        Warps of the batch.
    """

    KEY = "products"

    warps: int
    _now: int = 1
    _pending: list[_Product] = field(default_factory=list)
    _uses: dict[str, _Uses] = field(default_factory=dict)
    _shapes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fenced = np.zeros(self.warps, dtype=np.int64)
        self._committed = np.zeros(self.warps, dtype=np.int64)

    @classmethod
    def begun(cls, execution: Execution) -> Self:
        """See `Held.begun`."""
        return cls(len(execution.threads) // WARP)

    # -- what orders them
    def fence(self, warps: Warps) -> None:
        """Put what warps did to registers in order before their products to come."""
        self._now += 1
        self._fenced[warps] = self._now

    def commit(self, warps: Warps) -> None:
        """End the group of each of some warps."""
        self._committed[warps] += 1

    def wait(self, execution: Execution, warps: Warps, allowed: int) -> None:
        """Make warps wait for all but the last `allowed` groups that they committed."""
        below = np.full(self.warps, -1, dtype=np.int64)
        below[warps] = self._committed[warps] - allowed
        history = execution.memory.shared.history
        assert history is not None
        left = []
        for each in self._pending:
            done = each.group < below[each.warps]
            if done.any():
                readers = np.repeat(each.warps[done] * WARP, each.places.shape[1])
                for group in each.warps[done].reshape(-1, WARPGROUP_WARPS):
                    execution.ordering.follow(group, each.times[np.isin(each.warps, group)])
                done_places = each.places[done].reshape(-1)
                history.end_reads(execution.ordering, done_places, readers, each.line, by_products=True)
            if not done.all():
                still = ~done
                rest = each.warps[still], each.group[still], each.registers, each.places[still]
                left.append(_Product(*rest, each.times[still], each.line))
        self._pending = left

    # -- registers
    def touch(self, execution: Execution, reads: Iterable[str], writes: Iterable[str], warps: Warps) -> None:
        """Note that an instruction other than a product reads and writes registers."""
        written, line = frozenset(writes), execution.instruction.line
        names = written.union(reads)
        for each in self._pending:
            if names & each.registers.all and (mine := np.isin(each.warps, warps)).any():
                self._report_use(execution, each, names, written, each.warps[mine])
                break
        self._now += 1
        for name in names:
            uses = self._uses_of(name)
            uses.touched[warps], uses.line = self._now, line

    def begin(self, execution: Execution, registers: ProductRegisters, places: Places, warps: Warps) -> None:
        """Note that warps (n,) issue a product that reads places (n, granules) of shared memory."""
        self._check(execution, registers, warps)
        history = execution.memory.shared.history
        assert history is not None
        line = execution.instruction.line
        history.begin_reads(places.reshape(-1), line)
        times = execution.ordering.times(warps * WARP)
        self._pending.append(_Product(warps, self._committed[warps], registers, places, times, line))
        self._now += 1
        shape = self._shapes.setdefault(registers.shape, len(self._shapes))
        for name in registers.accumulators:
            uses = self._uses_of(name)
            uses.multiplied[warps], uses.shape[warps] = self._now, shape

    def relative(self) -> list[Any]:
        """Return all that tells which uses to come are undefined, for the comparison of two moments."""
        found: list[Any] = [self._fenced > 0]
        for each in self._pending:
            names = (
                sorted(each.registers.accumulators),
                sorted(each.registers.multiplicands),
                each.registers.shape,
            )
            found += [
                each.warps,
                self._committed[each.warps] - each.group,
                each.places,
                *map(np.array, names),
            ]
        for name, uses in sorted(self._uses.items()):
            after = uses.multiplied > self._fenced
            found += [np.array(name), uses.touched > self._fenced, after, np.where(after, uses.shape, -1)]
        return found

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.take(self.relative())
        for each in self._pending:
            snapshot.intervals(each.warps % snapshot.warps, each.times)
            snapshot.take(each.line)

    # -- details
    def _uses_of(self, name: str) -> _Uses:
        if name not in self._uses:
            touched, multiplied, shape = np.zeros((3, self.warps), dtype=np.int64)
            self._uses[name] = _Uses(touched, multiplied, shape)
        return self._uses[name]

    def _check(self, execution: Execution, registers: ProductRegisters, warps: Warps) -> None:
        """Report registers that a product must not use yet; one of them stands for all."""
        mnemonic, fenced = execution.instruction.mnemonic, self._fenced[warps]
        for each in self._pending:
            used = registers.accumulators & each.registers.multiplicands
            used |= registers.multiplicands & each.registers.accumulators
            if registers.shape != each.registers.shape:
                used |= registers.accumulators & each.registers.accumulators
            if used and (mine := np.isin(each.warps, warps)).any():
                self._report_use(execution, each, used, registers.accumulators, each.warps[mine])
        if not fenced.all():
            message = f"{mnemonic} is issued with no wgmma.fence before"
            self._report_unfenced(execution, message, warps[fenced == 0])
            return
        shape = self._shapes.get(registers.shape, -1)
        for name in sorted(registers.all):
            uses = self._uses.get(name)
            if uses is None:
                continue
            early = uses.touched[warps] > fenced
            if early.any():
                message = f"{mnemonic} uses {name}, which line {uses.line} uses after the last wgmma.fence"
                self._report_unfenced(execution, message, warps[early], uses.line)
                return
            other = (uses.multiplied[warps] > fenced) & (uses.shape[warps] != shape)
            if other.any():
                message = f"{mnemonic} uses {name}; a product of another shape wrote it after the last fence"
                self._report_unfenced(execution, message, warps[other])
                return

    def _report_unfenced(self, execution: Execution, message: str, warps: Warps, line: int = 0) -> None:
        if MULTIPLYING in execution.mended:
            execution.assumptions[
                f"ptxas inserts the wgmma.fence that the product of line {execution.instruction.line} lacks "
                "(advisory C7519)"
            ] = None
            return
        execution.report(Kind.PENDING, f"{message}; {_MENDED}", _threads(warps), other_line=line)

    def _report_use(
        self,
        execution: Execution,
        product: _Product,
        names: frozenset[str],
        written: frozenset[str],
        warps: Warps,
    ) -> None:
        """Report a use of registers that a product under way writes or reads."""
        if MULTIPLYING in execution.mended:
            execution.assumptions[
                f"ptxas inserts the wgmma.wait_group that the product of line {product.line} lacks "
                "(advisory C7517)"
            ] = None
            return
        used = sorted(names & product.registers.all)[0]
        group = product.group[np.isin(product.warps, warps)]
        open_one = (self._committed[warps] <= group).any()
        does = "writes" if used in written else "reads"
        role, may = ("D", "write") if used in product.registers.accumulators else ("A", "read")
        lacks = "no wgmma.commit_group has ended its group" if open_one else "no wgmma.wait_group covers it"
        execution.report(
            Kind.PENDING,
            f"{execution.instruction.mnemonic} {does} a register of {role} that the product of line "
            f"{product.line} may still {may}: {lacks}; {_MENDED}",
            _threads(warps),
            other_line=product.line,
        )


def _threads(warps: Warps) -> Indices:
    return (warps[:, None] * WARP + np.arange(WARP)).reshape(-1)


def touching(instruction: InstructionStatement, step: Step, watched: frozenset[str]) -> Step:
    """Return a step that tells products under way of which of their registers an instruction uses."""
    if instruction.opcode == MULTIPLYING or watched.isdisjoint(register_names(instruction.operands)):
        return step
    results = 0 if instruction.opcode in _STORING else 1
    writes = watched.intersection(register_names(instruction.operands[:results]))
    reads = watched.intersection(register_names(instruction.operands[results:]))

    def run(execution: Execution, active: Indices) -> None:
        if len(active):
            AsynchronousProducts.of(execution).touch(execution, reads, writes, np.unique(active // WARP))
        step(execution, active)

    return run
