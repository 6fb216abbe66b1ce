"""Symbolic launch: parameters, arrays and iterations for a size that depends on a symbol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import IntegerFormat
from ...contract.arguments import Array
from ...contract.contract import Contract, Instance
from ...contract.footprint import Footprint
from ...contract.parameters import Access, ArrayParameter, ScalarParameter
from ...contract.size_domains import LaunchSizeError, QuantifiedSizes, ResidueClass
from ...contract.size_polynomials import Polynomial, SizePolynomials, constant
from ...examine.references import FormulaReference
from ...formula.index_arithmetic import Expression
from ...formula.tree import Formula
from ...machine.array_memory import elements_in, inputs_of, memories
from ...machine.memory import ByteLanes
from ...machine.observations import Observations
from ...sizes.block_positions import Form, sum_of
from ...sizes.given_elements import check_given, given_elements, with_given
from ...sizes.integer_forms import Group, Rows, Symbols
from ...sizes.partial_sums import PartialSums, partial_sums
from ...sizes.symbolic_arrays import SymbolicArray, SymbolicMemory
from ...sizes.symbolic_terms import SymbolicTerms
from ...sizes.tail_predicates import Rest
from ...terms.interning import Ids
from ..compared_runs import are_same_numbers
from ..memory.symbolic_accesses import memory_of_any_size, use_memory_of_any_size
from ..registers.threads import Launch, Threads
from ..registers.values import Value
from ..run import launching
from ..run.between_blocks import taken_for_granted
from ..run.entry import PtxEntry, address_of
from ..run.launching import Number, Pointer, Scalar, Simple
from ..run.main_loops import loops, outermost
from ..run.program import Program
from ..state.address_spaces import Buffer, Memory
from ..state.execution import Execution
from ..text.module import InstructionStatement
from .loop_states import MOST_HEADS, Cells, LoopBatch, LoopHeadError, digest_of
from .size_proofs import UndecidedError

MOST_THREADS = 1 << 13
"""Threads of a grid that run at once."""

_PATIENCE = 64
"""Turns of inner loops that sizes decide, after which one of these is taken for the main loop."""

LARGE = 1 << 13
"""A size that is large enough for many turns, to find the main loop."""
Corners = Sequence[tuple[float, float]]
"""Points (n, u) around the numbers n (the size is a modulus times n and a rest) and turns u."""

Expected = Callable[[], Ids]
Both = Callable[[], tuple[Ids, Ids]]


class SymbolicLaunch:
    """A launch of a kernel at known sizes but one, which is a rest and the symbol n times a modulus.

    Parameters
    ----------
    kernel : PtxEntry
        The kernel.
    contract : Contract
        What it is launched with.
    known : mapping of str to int
        The other sizes that may be any number of a domain.
    numbers : ResidueClass
        What the one may be.

    Raises
    ------
    UnsupportedError
        If the contract has what is only modelled at known sizes.
    """

    is_of_block = False
    """Whether one block stands for all of a grid that grows."""

    def __init__(
        self, kernel: PtxEntry, contract: Contract, known: Mapping[str, int], numbers: ResidueClass
    ) -> None:
        assert contract.quantified is not None
        self.kernel, self.contract, self.path = kernel, contract, kernel.path
        domain = numbers.domain
        self.known, self._domain, self.numbers = known, domain, numbers
        self._function = launching.entry_named(kernel.module, kernel.entry)
        self.body: Sequence[InstructionStatement] = self._function.body
        self.polynomials = self._polynomials(contract.quantified)
        symbol = f"rest of {domain.name}"
        self.tail = Rest(domain.name, symbol, domain.step) if numbers.has_tail else None
        self.store = SymbolicTerms(self._symbols(((1.0, 0.0), (2.0, 0.0))))
        self.store.rests = () if self.tail is None else (self.tail,)
        self.axes_of_zeros: Mapping[str, int] = {}
        """Axes of arrays along which elements behind the tail are to be 0."""
        if self.tail is not None:
            self.axes_of_zeros = self.sums.axes_of_zeros()
        self.instance = self._instance(contract, domain.least)
        self._check()
        self.arrays = dict(self._symbolic_arrays())
        strides = {name: each.strides for name, each in self.arrays.items()}
        self.store.given = given_elements(contract.parameters, strides)
        self.instance = self._instance(contract, domain.least)
        self.symbolic_arrays = frozenset(self.arrays)
        self._program = Program(kernel.module, self._function)
        self.threads = self._launched()
        self._grid = self.threads.launch
        self._observations = Observations(kernel.module.path)
        self.shared: list[Any] = [self.store, kernel.module, self._function, self._program, self.threads]
        self._loops = loops(self._program)
        self._heads = outermost(self._loops.values())
        self._tried: set[int] = set()
        self._head: int | None = None
        self._turns: list[Cells] = []
        self.visited: list[list[tuple[str, Rows]]] = []
        self.assumptions: dict[str, None] = {}
        """What the runs that a proof is made of take for granted."""
        self.snapshots: list[bytes] = []
        """Digests of snapshots where turns begin, if operations complete on their own; else empty."""
        self._finder: LoopBatch | None = None

    # -- what is launched
    def _launched(self) -> Threads:
        """Return the threads that run: all of the grid."""
        grid = Launch(self.instance.grid, self.instance.block, self.instance.dynamic_shared)
        if grid.blocks * grid.threads > MOST_THREADS:
            raise UnsupportedError(f"the grid has more than {MOST_THREADS} threads at the sizes listed")
        return Threads(grid, np.arange(grid.blocks))

    def _polynomials(self, quantified: QuantifiedSizes) -> SizePolynomials:
        constants = {name: constant(name, value) for name, value in self.known.items()}
        return SizePolynomials(QuantifiedSizes((self._domain,), {**constants, **quantified.derived}))

    def _instance(self, contract: Contract, number: int) -> Instance:
        sizes: dict[str, int] = {**self.known, self._domain.name: number}
        assert self.contract.quantified is not None
        for name, expression in self.contract.quantified.derived.items():
            if name not in sizes:
                sizes[name] = expression.value(sizes)
        if (found := with_given(contract.instance(sizes), self.store.given)) is None:
            raise UndecidedError(f"{self._domain.name} changes which given value lies where")
        return found

    def stays(self, array: str, moved: Sequence[int]) -> bool:
        """Tell whether given values of an array move with its indices; see `partial_sums.Stays`."""
        return array in self.store.given and self.store.given[array].stays(moved)

    def standing_in(self, contract: Contract, extent: int) -> Instance:
        """Return a contract at another number in place of the size."""
        return self._instance(contract, extent)

    def _check(self) -> None:
        contract, instance = self.contract, self.instance
        launch = contract.launch
        self._check_grid()
        for extent in (*launch.block, *([launch.dynamic_shared] if launch.dynamic_shared else [])):
            if self.polynomials.varies(extent):
                raise LaunchSizeError(self._domain.name)
        if launching.cluster_of(self._function, instance.cluster) not in (None, (1, 1, 1)):
            raise UnsupportedError("clusters of blocks are supported at listed sizes only")
        maps = [pointer.tensor for pointer in contract.pointers]
        if contract.launches or instance.buffers or None in maps:
            raise UnsupportedError(
                "several launches, shared buffers and passed addresses are supported at listed sizes only"
            )
        boxes = [
            element_stride
            for fields in maps
            if fields
            for element_stride in (*fields.box, *fields.element_strides)
        ]
        if any(map(self.polynomials.varies, boxes)):
            raise UnsupportedError(
                "boxes of tensor maps that depend on sizes are supported at listed sizes only"
            )
        if instance.case:
            raise UnsupportedError("cases of scalars are supported at listed sizes only")

    def _check_grid(self) -> None:
        """Check that what is known of the grid is the same for every size."""
        if any(map(self.polynomials.varies, self.contract.launch.grid)):
            raise LaunchSizeError(self._domain.name)

    def _symbolic_arrays(self) -> Iterator[tuple[str, SymbolicArray]]:
        """Yield the arrays whose extents depend on the size."""
        for parameter in self.contract.parameters:
            if not isinstance(parameter, ArrayParameter):
                continue
            if not self._is_symbolic(parameter):
                continue
            name = parameter.name
            self._check_array(parameter)
            extents = np.concatenate([self.row_of(each) for each in parameter.shape])
            yield name, SymbolicArray(
                name, parameter.format, parameter.element_bits, extents,
                self._strides(parameter, extents), parameter.alignment,
                parameter.access.is_written, parameter.access is not Access.OUT,
            )  # fmt: skip

    def _is_symbolic(self, parameter: ArrayParameter) -> bool:
        """Tell whether where elements of an array lie depends on the size."""
        explicit = () if isinstance(parameter.strides, str) else parameter.strides
        return any(map(self.polynomials.varies, (*parameter.shape, *explicit)))

    def _check_array(self, parameter: ArrayParameter) -> None:
        """Check that an array whose extents depend on sizes is modelled."""
        about = f"{parameter.name} depends on {self._domain.name}"
        if parameter.access.is_written:
            raise UnsupportedError(f"{about} and is written, but the grid does not grow with it tile by tile")
        if parameter.low_bit:
            raise UnsupportedError(f"{about}; given bits are supported at listed sizes only")
        check_given(parameter)
        if parameter.element_bits != parameter.format.bits:
            raise UnsupportedError(f"{about}; padded elements are supported at listed sizes only")

    def _strides(self, parameter: ArrayParameter, extents: Rows) -> Rows:
        if not isinstance(parameter.strides, str):
            return np.concatenate([self.row_of(each) for each in parameter.strides])
        symbols, found = self.store.symbols, []
        ordered = list(extents) if parameter.strides == "column-major" else list(extents)[::-1]
        stride = symbols.constants(np.array([1], dtype=np.int64))
        for extent in ordered:
            found.append(stride)
            stride, possible = symbols.multiplied(stride, extent[None])
            if not possible.all() and extent is not ordered[-1]:
                raise UnsupportedError(f"strides of {parameter.name} are polynomials of too high a degree")
        return np.concatenate(found if parameter.strides == "column-major" else found[::-1])

    def row_of(self, expression: Expression) -> Rows:
        """Return the row (1, monomials) of an expression in sizes.

        Raises
        ------
        UnsupportedError, InputError
            If it is no polynomial that the symbols have.
        """
        return self._rows(self.polynomials.of(expression))

    def _rows(self, value: Polynomial) -> Rows:
        rows = self.store.symbols.constants(np.zeros(1, dtype=np.int64))
        for names, coefficient in value.items():
            for symbols, factor in (self.size_form if names else {(): 1}).items():
                scaled = coefficient * factor
                if len(names) > 1 or scaled.denominator != 1:
                    raise UnsupportedError(f"an expression is not linear in {self._domain.name}")
                rows[0, self.store.symbols.column(*symbols)] += int(scaled)
        return rows

    @property
    def size_form(self) -> Form:
        """The size, by symbols: whole tiles are a number where there is one number of them."""
        numbers = self.numbers
        if self.tail is None:
            return {("n",): numbers.modulus, (): numbers.residue}
        if numbers.last == numbers.from_(0):
            return sum_of(self.tail.form, {(): numbers.last - numbers.residue})
        return {("n",): numbers.modulus, **self.tail.form}

    @property
    def loop_line(self) -> int:
        """The line on which the main loop begins."""
        assert self._head is not None
        return self.body[self._head].line

    @property
    def all_numbers(self) -> Corners:
        """Corners of all numbers of the class, before the first turn."""
        numbers = self.numbers
        return tuple((numbers.count(number), 0.0) for number in (numbers.from_(0), numbers.last))

    # -- runs
    def suppose(self, corners: Corners) -> None:
        """Take n and u to be in the hull of some points from here on."""
        self.store.symbols = self._symbols(corners)

    def _symbols(self, corners: Corners) -> Symbols:
        return Symbols(self._groups(corners))

    def _groups(self, corners: Corners) -> list[Group]:
        """Return the symbols n and u, and that of the size's tail, where it has one."""
        tail = [] if self.tail is None else [self.tail.group(self.numbers.modulus)]
        return [Group(("n", "u"), tuple(corners)), *tail]

    def begun(self, corners: Corners) -> LoopBatch:
        """Return the kernel at its beginning, for n and u in the hull of some points."""
        self.suppose(corners)
        self._observations = Observations(self.kernel.module.path)
        given: dict[str, Simple] = dict(self._given())
        given |= {pointer.name: address_of(pointer, given) for pointer in self.instance.pointers}
        taken = self.kernel.packed(self.instance, given)
        buffers = launching.buffers(taken)
        launching.check_block(self.kernel.module, self._function, self._grid)
        memory = Memory(
            self.store,
            self.kernel.module,
            self._function,
            buffers,
            self._grid,
            launching.granule(self._function),
        )
        if memory.globals.unowned_reads is not None:
            raise UnsupportedError("arrays with gaps are supported at listed sizes only")
        launching.pass_arguments(self.store, memory, self._function, taken)
        self._program.check_legality(self._observations)
        memory.for_batch(self.threads)
        execution = Execution(
            self.store, self.kernel.module, self._function, self.threads, memory, self._observations, None,
            str(self.contract.accumulate), are_same_numbers,
        )  # fmt: skip
        execution.mended = self.contract.mended
        arrays = [
            (memory.buffer_address(pointer.buffer), self.arrays[name])
            for name, pointer in given.items()
            if name in self.arrays and isinstance(pointer, Pointer)
        ]
        use_memory_of_any_size(execution, SymbolicMemory(self.store, arrays))
        known = {name: each for name, each in execution.special.items() if "clusterid" not in name}
        execution.special = {**known, **self._block_registers()}
        self.shared = [
            self.store, self.kernel.module, self._function, self._program, self.threads, self._observations,
            memory.buffers, *memory.buffers, *self.arrays.values(),
        ]  # fmt: skip
        return self._batch(execution, launching.scalars(taken))

    def _batch(self, execution: Execution, scalars: Collection[int]) -> LoopBatch:
        return LoopBatch(execution, self._program, scalars, frozenset(self._loops))

    def _block_registers(self) -> Mapping[str, Value]:
        """Return the special registers that say which block runs, where sizes decide that."""
        return {}

    def _given(self) -> Iterator[tuple[str, Number | Scalar | Pointer]]:
        memory, inputs = memories(self.instance), inputs_of(self.store, self.instance)
        parameters = {each.name: each for each in self.contract.parameters}
        for argument in self.instance.arguments:
            parameter = parameters[argument.name]
            if argument.name in self.arrays:
                assert isinstance(argument, Array)  # its buffer holds nothing itself
                holds_none = Buffer(argument.name, 1, argument.alignment, None, False, Footprint.whole(1))
                yield argument.name, Pointer(holds_none)
            elif isinstance(parameter, ScalarParameter) and isinstance(parameter.value, Expression):
                yield argument.name, self._size(parameter, parameter.value)
            else:
                yield argument.name, self.kernel.argument(argument, memory, self.store, inputs)

    def _size(self, parameter: ScalarParameter, value: Expression) -> Number | Scalar:
        """Return what a size is passed as."""
        fmt = parameter.format
        assert isinstance(fmt, IntegerFormat)
        if not self.polynomials.varies(value):
            return Number(value.value(self.instance.sizes))
        rows = self.row_of(value)
        low, high = self.store.symbols.bounds(rows)
        if low[0] < fmt.minimum or high[0] > fmt.maximum:
            self.store.doubt(f"{parameter.name} does not fit {fmt}", rows, fmt.maximum)
            most = f"with a whole last tile it may be {high[0]:.0f}"
            raise UnsupportedError(f"{parameter.name} does not fit {fmt}: {most}; state an end of the size")
        return Scalar(int(self.store.integers(rows, fmt.bits)[0]))

    def turns(self, count: int) -> list[Cells]:
        """Return what is held whenever the main loop begins again, `count` times; the first entry is nothing.

        The size is large, so that nothing is shown by it: it is to guess from.

        Raises
        ------
        UnsupportedError
            If there is no loop of as many turns.
        """
        numbers = self.numbers
        large = numbers.from_(min(numbers.domain.most // 2, LARGE))
        corners = ((numbers.count(large), 0.0), (numbers.count(numbers.from_(2 * large)), 0.0))
        self.suppose(corners)
        while len(self._turns) <= count:
            if self._finder is None:
                self._finder = self.begun(corners)
                self._turns, self.visited, self.snapshots = [Cells({}, ())], [], [b""]
            if not self._next_turn(self._finder):
                self._choose_another()
        return self._turns

    def _next_turn(self, batch: LoopBatch) -> bool:
        """Run to where the main loop begins again, if it does."""
        passed, inner = False, 0
        for _ in range(MOST_HEADS):
            try:
                batch.run()
            except LoopHeadError as reached:
                depends = self._loops[reached.head].deciding & self.store.decided
                if self._head is None and reached.head not in self._heads:
                    inner += bool(depends)
                    if inner > _PATIENCE:
                        return False
                    continue
                self.store.decided.clear()
                if self._head is None and depends and reached.head not in self._tried:
                    self._head = reached.head
                    if passed:  # all turns are counted, also those before the first that sizes decide
                        self._finder = None
                        return True
                passed |= self._head is None
                if reached.head == self._head:
                    self._turns.append(Cells.of(batch))
                    self.snapshots.append(digest_of(batch))
                    memory = memory_of_any_size(batch.execution)
                    self.visited.append(memory.visited)
                    memory.visited = []
                    return True
                continue
            return False
        raise UnsupportedError("too many iterations of loops before the loop that depends on the size")

    def _choose_another(self) -> None:
        """Look for the main loop among others than the one that has ended, or among inner ones."""
        self._finder = None
        if self._head is not None:
            self._tried.add(self._head)
            self._head = None
        elif self._heads != self._loops.keys():
            self._heads = frozenset(self._loops)
        else:
            raise UnsupportedError(f"no loop depends on {self._domain.name}")

    def run_to_head(self, batch: LoopBatch, count: int) -> None:
        """Run until the main loop has begun again some times."""
        assert self._head is not None
        batch.run_to_head(self._head, count)
        self.assumptions |= taken_for_granted(batch.execution)

    def run_to_end(self, batch: LoopBatch) -> None:
        """Run to the end."""
        batch.run_to_end()
        self.assumptions |= taken_for_granted(batch.execution)

    def check_findings(self) -> None:
        """Refuse to go on if something is wrong with the kernel.

        Raises
        ------
        UnsupportedError
            The first finding.
        """
        for finding in self._observations.findings:
            raise UnsupportedError(f"{self.path}:{finding.line}: {finding.message}")

    @cached_property
    def sums(self) -> PartialSums:
        """The one sum over the size; raises `UnsupportedError` where there is none."""
        return partial_sums(self.contract, self._domain.name, self.polynomials, self.stays)

    def begins_in(self, formula: Formula) -> Mapping[str, Rows]:
        """Return where the tile begins that is stored, by indices of the output."""
        return {}

    def axes_left(self, output: Array) -> Mapping[int, Rest]:
        """Return along which axes of an output the tile may have fewer rows."""
        return {}

    def tails(self) -> Mapping[tuple[str, int], str]:
        """Return axes of arrays along which elements behind the end are read as zeros, with their sizes."""
        return dict.fromkeys(self.axes_of_zeros.items(), self._domain.name)

    def settled(self, terms: Ids, output: Array) -> Ids:
        """Return terms (n elements, …) of an output for those elements that are stored."""
        return terms

    def ways(self, output: Array, actual: Ids, expected: Expected) -> Iterator[Both]:
        """Yield ways to compare what is stored with what is expected, which return both."""
        yield lambda: (actual, expected())

    def stored(self, batch: LoopBatch, output: Array) -> Ids:
        """Return what a batch that has ended stored for the elements of an output.

        Raises
        ------
        UnsupportedError
            If that is not all of those that the contract's formula covers.
        """
        memory = memories(self.instance)[output.name]
        wanted = FormulaReference(self.instance, self.store).covered(output)
        written, actual = elements_in(self.store, memory, self._lanes_of(batch, output.name))
        if not (written & wanted).all() or memory.kept is not None:
            raise UnsupportedError(f"some elements of {output.name} are not written when the loop has ended")
        return actual

    def _lanes_of(self, batch: LoopBatch, name: str) -> ByteLanes:
        """Return the bytes of an array of known extents."""
        memory = batch.execution.memory
        buffer = next(each for each in memory.buffers if each.name == name)
        lanes = memory.buffer_lanes(buffer)
        found = ByteLanes(self.store, 0)
        found.terms, found.lows = memory.globals.lanes.terms[lanes], memory.globals.lanes.lows[lanes]
        return found
