"""Symbolic launch of one block that stands for all, at symbolic sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import prod

import numpy as np

from ....spec.errors import UnsupportedError
from ...contract.arguments import Array
from ...contract.contract import Contract
from ...contract.parameters import ArrayParameter
from ...contract.size_domains import NO_SIZE, QuantifiedSizes, ResidueClass
from ...contract.size_polynomials import SizePolynomials, constant
from ...examine.references import FormulaReference
from ...formula.index_arithmetic import Expression
from ...formula.tree import Formula
from ...sizes.block_positions import BlockPosition, Form, Position
from ...sizes.given_elements import check_given
from ...sizes.implied_bounds import RestConditions
from ...sizes.integer_forms import Group, Rows, Symbols
from ...sizes.present_rows import of_present
from ...sizes.row_arithmetic import RowArithmetic
from ...sizes.tail_predicates import Rest
from ...sizes.tile_variables import check_sums, output_variables
from ...sizes.wrapped_indices import settled
from ...terms.interning import Ids
from ..memory.symbolic_accesses import memory_of_any_size
from ..registers.values import Value, of_terms
from ..run.entry import PtxEntry
from .grid_tiles import AXES, MOST_BLOCKS
from .loop_states import LoopBatch
from .size_proofs import LimitError
from .symbolic_launch import Both, Corners, Expected, SymbolicLaunch


class BlockLaunch(SymbolicLaunch):
    """A symbolic launch of the block that stands for all blocks of a grid, or for some.

    Of the sizes by which the grid grows, the instance that stands in for all has one tile.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is launched with.
    position : BlockPosition
        Where the block is.
    known : mapping of str to int
        The sizes that are numbers.
    numbers : ResidueClass
        What the one may be that is gone through by induction; else `NO_SIZE`.

    Raises
    ------
    UnsupportedError
        If the grid is not what `position` says, or the contract has what is only modelled at known sizes.
    """

    is_of_block = True

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        position: BlockPosition,
        known: Mapping[str, int],
        numbers: ResidueClass,
    ) -> None:
        self.position = position
        self._tiles = {each.domain.name: each.tile for each in position.positions}
        self._others = dict(known)
        super().__init__(kernel, contract, {**known, **self._tiles}, numbers)
        self.store.rests += tuple(rest for each in position.positions if (rest := each.rest or each.behind))
        self._check_outputs()
        self._masking = True
        self.store.opens = numbers is NO_SIZE
        check_sums(contract, self._tiles, self.polynomials)

    # -- sizes
    def _polynomials(self, quantified: QuantifiedSizes) -> SizePolynomials:
        domains = (*(position.domain for position in self.position.positions), self._domain)
        named = {domain.name for domain in domains}
        derived = {name: constant(name, number) for name, number in self._others.items()}
        derived |= {name: each for name, each in quantified.derived.items() if name not in named}
        return SizePolynomials(QuantifiedSizes(domains, derived))

    def _symbols(self, corners: Corners) -> Symbols:
        return self._symbols_of(self._groups(corners), self.position)

    def _symbols_of(self, inner: Sequence[Group], position: BlockPosition) -> Symbols:
        groups = [self._with_another(each) for each in position.positions]
        ranks = [
            len(parameter.shape)
            for parameter in self.contract.parameters
            if isinstance(parameter, ArrayParameter)
        ]
        return Symbols([*inner, *groups], max(2, *ranks))

    def _with_another(self, position: Position) -> Group:
        """Return the symbols of a position, with an index of which only its size is known, if one may be."""
        group, rest = position.group, position.rest
        if rest is None or not any(each.opcode == "rem" for each in self.body):
            return group
        corners = []
        for corner in group.corners:
            values = dict(zip(group.symbols, corner, strict=True))
            size = sum(
                coefficient * prod(values[symbol] for symbol in names)
                for names, coefficient in position.size.items()
            )
            corners += [(*corner, 0.0, 0.0), (*corner, size / rest.step - 1.0, 0.0)]
        return Group((*group.symbols, rest.other, rest.apart), tuple(corners))

    def symbols_at(self, position: BlockPosition, part: float) -> Symbols:
        """Return the symbols for a position of smaller sizes, with a part of what n and u may be now."""
        (n_and_u, *_) = self.store.symbols.groups
        corners = [(part * n, part * u) for n, u in n_and_u.corners]
        return self._symbols_of(self._groups(corners), position)

    def _forms(self) -> Mapping[str, Form]:
        """Return sizes, by the symbols that are multiplied."""
        known: dict[str, Form] = {name: {(): number} for name, number in self._others.items()}
        return {**known, **self.position.sizes, self._domain.name: self.size_form}

    def _rows_in(self, symbols: Symbols) -> RowArithmetic:
        names = {name: symbols.form(form) for name, form in self._forms().items()}
        found = RowArithmetic(symbols, names)
        assert self.contract.quantified is not None
        for name, expression in self.contract.quantified.derived.items():
            if name not in names:
                found.define(name, expression)
        return found

    def row_of(self, expression: Expression) -> Rows:
        """See `SymbolicLaunch.row_of`."""
        return self._of_all_numbers.row(expression)[None]

    @cached_property
    def _of_all_numbers(self) -> RowArithmetic:
        return self._rows_in(self._symbols(self.all_numbers))

    # -- the grid
    def _check_grid(self) -> None:
        launch, symbols = self.contract.launch, self.store.symbols
        for axis, extent in enumerate(launch.grid):
            if axis not in self.position.extents:
                if self.polynomials.varies(extent):
                    raise UnsupportedError(f"the grid depends on sizes along {AXES[axis]}")
                continue
            found, wanted = self.row_of(extent)[0], symbols.form(self.position.extents[axis])
            if (found != wanted).any():
                raise UnsupportedError(
                    f"a grid of {extent.source.text} blocks along {AXES[axis]} is not one for each tile"
                )
            if symbols.bounds(wanted[None])[1][0] > MOST_BLOCKS[axis]:
                most = MOST_BLOCKS[axis]
                raise LimitError(most, f"a grid can have at most {most} blocks along {AXES[axis]}")

    def _block_registers(self) -> Mapping[str, Value]:
        found = {}
        for axis, index in self.position.indices.items():
            for name, form in (("ctaid", index), ("nctaid", self.position.extents[axis])):
                terms = self.store.integers(self.store.symbols.form(form)[None], 32)
                every = np.repeat(terms, len(self.threads))
                found[f"%{name}.{AXES[axis]}"] = of_terms(self.store, every, 32)
        return found

    # -- arrays
    def _check_array(self, parameter: ArrayParameter) -> None:
        if parameter.low_bit:
            raise UnsupportedError(
                f"{parameter.name} depends on sizes; given bits are supported at listed sizes only"
            )
        check_given(parameter)
        if parameter.element_bits != parameter.format.bits:
            raise UnsupportedError(
                f"{parameter.name} depends on sizes; padded elements are supported at listed sizes only"
            )

    def _check_outputs(self) -> None:
        """Check that tiles of the outputs are told apart by the sizes by which the grid grows."""
        outputs = {output.name for output in self.instance.outputs}
        for parameter in self.contract.parameters:
            if not isinstance(parameter, ArrayParameter) or not parameter.access.is_written:
                continue
            name = parameter.name
            if name not in outputs or parameter.format.bits % 8:
                raise UnsupportedError(
                    f"{name} is written, but is not an output whose elements fill whole bytes"
                )
            sizes = []
            for extent in parameter.shape:
                if self.polynomials.varies(extent):
                    ((names, coefficient),) = dict(self.polynomials.of(extent)).items() or (((), 0),)
                    sizes.append(names[0] if len(names) == 1 and coefficient == 1 else "")
            if sorted(sizes) != sorted(self._tiles):
                raise UnsupportedError(
                    f"each axis of {name} must be one of the sizes that the grid grows with"
                )
            self._check_apart(name)

    def _check_apart(self, name: str) -> None:
        """Check that no two elements of an array lie at one place."""
        array, symbols = self.arrays[name], self.store.symbols
        for order in (range(len(array.extents)), range(len(array.extents))[::-1]):
            apart = True
            for outer, inner in zip(list(order), list(order)[1:], strict=False):
                spans, possible = symbols.multiplied(array.extents[[inner]], array.strides[[inner]])
                room = array.strides[[outer]] - spans
                apart &= bool(possible.all() and symbols.bounds(room)[0][0] >= 0)
            last = list(order)[-1]
            if apart and symbols.bounds(array.strides[[last]])[0][0] >= 1:
                return
        raise UnsupportedError(f"two elements of {name} may share an address at some sizes")

    def begun(self, corners: Corners) -> LoopBatch:
        """See `SymbolicLaunch.begun`."""
        batch = super().begun(corners)
        lanes = batch.execution.memory.globals.lanes
        self._before = lanes.terms.copy(), lanes.lows.copy()
        return batch

    def stored(self, batch: LoopBatch, output: Array) -> Ids:
        """See `SymbolicLaunch.stored`."""
        lanes = batch.execution.memory.globals.lanes
        if (lanes.terms != self._before[0]).any() or (lanes.lows != self._before[1]).any():
            raise UnsupportedError("a block stores to global memory outside the outputs")
        if not FormulaReference(self.instance, self.store).covered(output).all():
            raise UnsupportedError(f"the formula does not cover all of {output.name}")
        memory = memory_of_any_size(batch.execution)
        places = memory.array(output.name).place(self.store.symbols, list(self._own(output)))
        terms, conditions = memory.written[output.name].elements(places)
        self._check_conditions(output, conditions)
        return self.settled(terms, output)

    def settled(self, terms: Ids, output: Array) -> Ids:
        """See `SymbolicLaunch.settled`."""
        return self._settled(terms, output) if self.store.wraps else terms

    def _settled(self, terms: Ids, output: Array) -> Ids:
        indices = np.unravel_index(np.arange(output.elements), output.shape)
        columns = terms.reshape(output.elements, -1)
        there = [
            (rest, np.repeat(indices[axis].astype(np.int64), columns.shape[1]))
            for axis, rest in self.axes_left(output).items()
        ]
        return settled(self.store, columns.reshape(-1), there).reshape(terms.shape)

    def axes_left(self, output: Array) -> dict[int, Rest]:
        """Return along which axes of an output the tile may have fewer rows."""
        rests = {each.domain.name: each.rest for each in self.position.positions if each.rest is not None}
        return {
            axis: rests[size]
            for (name, axis), size in self._axes_of_tiles()
            if name == output.name and size in rests
        }

    def _check_conditions(self, output: Array, conditions: Ids) -> None:
        """Check that just those elements are stored whose indices are less than the sizes."""
        axes = self.axes_left(output)
        indices = np.unravel_index(np.arange(output.elements), output.shape)
        said = RestConditions(self.store, self.store.rests)
        columns = [np.repeat(indices[axis], conditions.shape[1]) for axis in axes]
        cases = np.stack([conditions.reshape(-1), *columns], axis=1)
        for term, *numbers in np.unique(cases, axis=0).tolist():
            there = {rest.size: rest.reach(x) for rest, x in zip(axes.values(), numbers, strict=True)}
            implied = said.implied(term)
            only = all(rest.reach(implied.get(rest.size, 0)) >= there[rest.size] for rest in axes.values())
            if not only or said.value(term, there) is not True:
                raise UnsupportedError(
                    f"a block stores other elements of a partial tile than {output.name} has"
                )

    def _axes_of_tiles(self) -> Iterator[tuple[tuple[str, int], str]]:
        """Yield axes of arrays, by name and number, that go over a size by which the grid grows."""
        for parameter in self.contract.parameters:
            if isinstance(parameter, ArrayParameter) and parameter.name in self.arrays:
                for axis, extent in enumerate(parameter.shape):
                    for size in self._tiles:
                        if dict(self.polynomials.of(extent)) == {(size,): 1}:
                            yield (parameter.name, axis), size

    def _begins(self) -> Mapping[str, Rows]:
        """Return where the block's tile of each size begins."""
        symbols = self.store.symbols
        return {each.domain.name: each.tile * symbols.form(each.block) for each in self.position.positions}

    def _own(self, output: Array) -> Iterator[Rows]:
        """Yield the indices of the elements of the block's tile of an output, along each axis."""
        begins, sizes = self._begins(), dict(self._axes_of_tiles())
        for axis, index in enumerate(np.unravel_index(np.arange(output.elements), output.shape)):
            rows = self.store.symbols.constants(index.astype(np.int64))
            size = sizes.get((output.name, axis))
            yield rows if size is None else rows + begins[size]

    def begins_in(self, formula: Formula) -> Mapping[str, Rows]:
        """See `SymbolicLaunch.begins_in`."""
        begins = self._begins()
        variables = output_variables(self.contract, formula, self._tiles, self.polynomials)
        return {variables[size]: begins[size] for size in variables}

    def tails(self) -> Mapping[tuple[str, int], str]:
        """See `SymbolicLaunch.tails`: zeros in place of rows that the tile may not have.

        They are another way to write what a formula says of the elements of an output that are there.
        """
        found = dict(super().tails())
        if self._masking and not self.store.wraps:
            rests = {rest.size for rest in self.store.rests}
            found |= {
                place: size
                for place, size in self._axes_of_tiles()
                if size in rests and not self.arrays[place[0]].is_written
            }
        return found

    def ways(self, output: Array, actual: Ids, expected: Expected) -> Iterator[Both]:
        """See `SymbolicLaunch.ways`; the formula's elements may be zeros where there are none."""
        for masking in (True, False) if self.store.rests else (False,):
            self._masking = masking
            yield lambda: (actual, expected())
        if self.store.rests and not self.store.wraps:
            yield lambda: (self._settled(actual, output), expected())
        if self.axes_left(output):
            there = partial(self._present, output)
            yield lambda: (there(actual), there(expected()))

    def _present(self, output: Array, terms: Ids) -> Ids:
        """Return terms (n,) of an output's elements as they are where the tile has these."""
        indices = np.unravel_index(np.arange(output.elements), output.shape)
        rows = {
            rest.size: rest.reach_of(indices[axis].astype(np.int64))
            for axis, rest in self.axes_left(output).items()
        }
        return of_present(self.store, terms, rows)
