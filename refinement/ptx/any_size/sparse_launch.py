"""Sparse launches: blocks at sizes too large to hold arrays, run for their accesses only.

Sizes and blocks are numbers, so that every integer is one, and wraps as the kernel's does. Elements of
arrays are told apart by their places, and nothing is held of those that are not met.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from ....spec.errors import UnsupportedError
from ...contract.contract import Contract, Instance
from ...contract.parameters import ArrayParameter
from ...contract.size_domains import NO_SIZE, QuantifiedSizes
from ...contract.size_polynomials import SizePolynomials
from ...formula.index_arithmetic import Expression
from ...sizes.given_elements import check_given
from ...sizes.integer_forms import Group, Rows, Symbols
from ...sizes.row_arithmetic import RowArithmetic
from ..registers.threads import Indices, Launch, Threads
from ..registers.values import Value, of_terms
from ..run.entry import PtxEntry
from .followed_accesses import Followed, follow
from .grid_tiles import AXES, MOST_BLOCKS
from .symbolic_launch import MOST_THREADS, Corners, SymbolicLaunch

MOST_INSTRUCTIONS = 1 << 12
"""Instructions that blocks may take."""


class SparseLaunch(SymbolicLaunch):
    """A launch of some blocks, at sizes that are known.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is launched with; the sizes of the contract that may be many are not used.
    sizes : mapping of str to int
        The sizes.
    blocks : array (n,)
        Their linear numbers.
    unbounded : bool
        Whether integers are taken not to wrap, as far as they are polynomials of sizes.
    moving : bool
        Whether the indices of a block are taken for such, too.

    Raises
    ------
    UnsupportedError
        If the contract has what is only modelled at sizes at which arrays are held.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        sizes: Mapping[str, int],
        blocks: Indices,
        *,
        unbounded: bool = False,
        moving: bool = False,
    ) -> None:
        assert contract.quantified is not None
        self._sizes, self._blocks, self._unbounded = sizes, blocks, unbounded
        self._moving = moving
        self._steps = {domain.name: domain.step for domain in contract.quantified.domains}
        self._extents = extents_at(contract, sizes)
        super().__init__(kernel, contract, {}, NO_SIZE)
        self.store.unbounded = unbounded

    def _symbols(self, corners: Corners) -> Symbols:
        if not self._unbounded:
            return super()._symbols(corners)
        numbers = {name: self._sizes[name] // step for name, step in self._steps.items()}
        place = np.unravel_index(int(self._blocks[0]), self._extents[::-1])[::-1] if self._moving else ()
        numbers |= {_index(axis): int(each) for axis, each in enumerate(place)}
        return Symbols([Group((name,), ((float(number),),)) for name, number in numbers.items()])

    def _polynomials(self, quantified: QuantifiedSizes) -> SizePolynomials:
        return SizePolynomials(quantified)

    def _instance(self, contract: Contract, number: int) -> Instance:
        return contract.instance(contract.sizes[0])

    def _launched(self) -> Threads:
        grid = Launch(self._extents, self.instance.block, self.instance.dynamic_shared)
        if len(self._blocks) * grid.threads > MOST_THREADS:
            raise UnsupportedError(f"more than {MOST_THREADS} threads")
        return Threads(grid, self._blocks)

    def _check_grid(self) -> None:
        if any(each > most for each, most in zip(self._extents, MOST_BLOCKS, strict=True)):
            raise UnsupportedError("a grid can have no more blocks")

    def _is_symbolic(self, parameter: ArrayParameter) -> bool:
        return True

    def _check_array(self, parameter: ArrayParameter) -> None:
        if parameter.low_bit or parameter.element_bits != parameter.format.bits:
            raise UnsupportedError(
                f"{parameter.name}: given bits and padded elements are supported at listed sizes only"
            )
        check_given(parameter)

    def row_of(self, expression: Expression) -> Rows:
        """See `SymbolicLaunch.row_of`."""
        symbols, number = self.store.symbols, expression.value(self._sizes)
        if self._unbounded:
            names = {name: symbols.form({(): each}) for name, each in self._sizes.items()}
            names |= {name: symbols.form({(name,): step}) for name, step in self._steps.items()}
            with suppress(UnsupportedError):
                return np.asarray(RowArithmetic(symbols, names).row(expression)[None])
        return symbols.constants(np.array([number], dtype=np.int64))

    def _block_registers(self) -> Mapping[str, Value]:
        if not self._moving:
            return {}
        found = {}
        for axis, name in enumerate(AXES):
            row = self.store.symbols.form({(_index(axis),): 1})
            terms = np.repeat(self.store.integers(row[None], 32), len(self.threads))
            found[f"%ctaid.{name}"] = of_terms(self.store, terms, 32)
        return found

    def follow(self, most: int) -> Followed:
        """Run the blocks to their end, or to the first access that is outside its array; see `follow`."""
        return follow(self.store, self.begun(((0.0, 0.0),)), most)


def extents_at(contract: Contract, sizes: Mapping[str, int]) -> tuple[int, int, int]:
    """Return the extents of a contract's grid at some sizes."""
    x, y, z, *_ = *(each.value(sizes, 1) for each in contract.launch.grid), 1, 1, 1
    return x, y, z


def _index(axis: int) -> str:
    return f"block along {AXES[axis]}"
