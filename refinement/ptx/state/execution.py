"""The state of a batch of blocks during a run: registers, memory, operand access."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.open_results import OpenResult
from ....spec.ptx.open_results import SPECIAL_REGISTERS as OPEN_REGISTERS
from ....spec.ptx.operands import Decimal, HexFloat, Integer, Negated, Predicate, Register, Sink
from ...conditions.feasible_conditions import holds_for_some
from ...findings.finding import Kind
from ...machine.memory import ByteLanes, Offsets
from ...machine.observations import Loads, Observations
from ...terms import bit_slices
from ...terms.evaluation import ones
from ...terms.interning import Ids
from ...terms.store import TermStore
from ...terms.truth_tables import A, B
from ..order.ordering import Ordering
from ..registers.dependence import require_known
from ..registers.threads import WARP, Indices, Threads
from ..registers.value_operations import chosen, combined
from ..registers.values import KNOWN, Value, compute, known, of_terms
from ..text.module import TYPE_BITS, Function, InstructionStatement, Module
from ..text.operands import Displaced, Operand, SpecialRegister, Symbol, float_encoding
from .absent_threads import require_all
from .address_spaces import Memory
from .semaphores import Semaphores
from .state_space import Space
from .undo_log import UndoLog

Step = Callable[["Execution", Indices], None]
"""Carries an instruction out in the threads that are active."""

Decoder = Callable[[InstructionStatement], Step]
"""Reads an instruction; may raise UnsupportedError."""

Decoders = Mapping[str, Decoder]
"""By opcode."""

Found = TypeVar("Found")
"""What an access returns."""

_TRIED = 4
"""Conditions for which data are looked for."""


def undecoded(act: Callable[[Execution, InstructionStatement, Indices], None]) -> Decoder:
    """Return the decoder of an instruction that is read anew each time it runs."""

    def decoder(instruction: InstructionStatement) -> Step:
        def step(execution: Execution, active: Indices) -> None:
            act(execution, instruction, active)

        return step

    return decoder


SameNumbers = Callable[[TermStore, Ids, Ids], bool]
"""Tells whether words (n,) are shown to be the same numbers as others."""


def never_the_same(_: TermStore, __: Ids, ___: Ids) -> bool:
    """Tell nothing of words that are not the same terms."""
    return False


class Execution:
    """A running batch of blocks.

    Attributes
    ----------
    store : TermStore
        The terms.
    module : Module
        The kernel's module.
    function : Function
        Its entry.
    threads : Threads
        Those of the batch.
    memory : Memory
        The kernel's buffers and variables.
    accumulation : str
        How matrix units accumulate: ``unspecified`` or ``sequential``.
    same_numbers : callable
        Tells of words that several threads store at one place whether they are the same numbers.
    registers : dict of str to Value
        What registers hold in all threads.
    never_written : list of (str, array)
        Registers in which something was to be read that nobody wrote, and the terms for it.
    alive : bool array (n,)
        Threads that have not ended.
    ordering : Ordering
        What barriers have put in order.
    instruction : InstructionStatement
        The one that runs.
    unordered : bool
        Whether floats were summed in an order that PTX leaves open.
    mended : collection of str
        The opcodes for which ptxas is taken to mend what they lack to be in order.
    path : Value, optional
        Under which condition on data each thread runs; None where no branch on data is run.
    undo_log : UndoLog, optional
        Where stores are noted then.
    special : dict of str to Value
        The special registers.
    semaphores : Semaphores, optional
        The words by which threads of several blocks wait for each other, of a kernel that has such.
    elsewhere : set of int
        Threads that wait for something, where others of their warps go on without them.
    turns : mapping of int to int
        Which threads, by number in the grid, come to a place after which others, if that is wanted.
    state : dict
        What a group of instructions keeps between them: copies under way, arrivals at barriers.
    """

    def __init__(
        self,
        store: TermStore,
        module: Module,
        function: Function,
        threads: Threads,
        memory: Memory,
        observations: Observations,
        loads: Loads | None,
        accumulation: str,
        same_numbers: SameNumbers,
    ) -> None:
        self.store = store
        store.open_nans = True
        self.module = module
        self.function = function
        self.threads = threads
        self.memory = memory
        self.accumulation = accumulation
        self.same_numbers = same_numbers
        self.registers: dict[str, Value] = {}
        self.never_written: list[tuple[str, Ids]] = []
        self.alive = threads.exist.copy()
        self.ordering = Ordering(threads)
        self.instruction = InstructionStatement("", (), ())
        self.state: dict[str, Any] = {}
        self.assumptions: dict[str, None] = {}
        self.unordered = False
        self.drops_races, self.loose_races = False, False
        self.mended: Collection[str] = ()
        self.path: Value | None = None
        self.undo_log: UndoLog | None = None
        self.semaphores: Semaphores | None = None
        self.turns: Mapping[int, int] = {}
        self.elsewhere: frozenset[int] = frozenset()
        self._observations = observations
        self._loads = loads
        self.special = dict(threads.special_registers())
        self.special["%dynamic_smem_size"] = known(np.full(len(threads), memory.dynamic_shared), 32)
        self._condition: Value | None = None

    # -- messages
    def report(
        self,
        kind: Kind,
        message: str,
        threads: Indices,
        *,
        undefined: Ids | None = None,
        other_line: int = 0,
        cause: str = "",
        with_any_data: bool = False,
    ) -> None:
        """Report what an instruction does in some threads; the message is about the first.

        If it gives `undefined` leaves, only if something comes to depend on them, and of one `cause` of
        an instruction once, where that is known. What happens on one way of a branch on data is undecided,
        unless data are found for which it is the way; of races, where the other's happens `with_any_data`.
        """
        if kind.refutes and not self._happens(threads, kind is not Kind.RACE or with_any_data):
            kind, message = Kind.UNDECIDED, f"if data lead here, which is not known: {message}"
        first = self.threads.name(int(threads[0])) if len(threads) else ""
        line, count = self.instruction.line, max(1, len(threads))
        if undefined is not None:
            self._observations.hold(kind, message, line, first, count, undefined)
        else:
            self._observations.add(kind, message, line, first, count, other_line, cause)

    def note_loose_races(self, some: bool) -> None:
        """Note whether a race leaves some value, so that it may do no harm."""
        self.loose_races |= some

    def note(self, message: str, other_line: int) -> None:
        """Note what is no fault of the instruction and one in another line, or in the same."""
        self._observations.note(message, self.instruction.line, other_line)

    def on_data(self, threads: Indices) -> bool:
        """Tell whether it depends on data that some of some threads run the instruction."""
        if self.path is None:
            return False
        terms = self.path.at(threads).terms
        return terms is not None and bool((terms != KNOWN).any())

    @contextmanager
    def on_condition(self, conditions: Value, threads: Indices) -> Iterator[None]:
        """Run in threads (n,) as on a way of a branch: what happens is undecided unless data lead there."""
        before = self.path
        path = Value(1, np.ones(len(self.threads), dtype=np.uint64)) if before is None else before
        holds = conditions if before is None else combined(self.store, A & B, path.at(threads), conditions)
        self.path = path.updated(threads, holds)
        try:
            yield
        finally:
            self.path = before

    def tried(self, access: Callable[[], Found]) -> Found | None:
        """Return what an access returns; None if there is something to report of it, which is not done."""
        before, self._observations = self._observations, Observations("")
        try:
            found = access()
            return found if self._observations.empty else None
        finally:
            self._observations = before

    def _happens(self, threads: Indices, alone: bool) -> bool:
        """Tell whether some of some threads are known to be here for some data.

        Where it takes more than one of them (not `alone`), only if one is here for all data.
        """
        if self.path is None:
            return True
        path = self.path.at(threads)
        if path.terms is None or (path.terms == KNOWN).any():
            return True
        return alone and any(holds_for_some(self.store, int(term)) for term in np.unique(path.terms)[:_TRIED])

    def note_store(
        self, part: Space, offsets: Offsets, total: int, size: int, threads: Indices, *, atomic: bool = False
    ) -> None:
        """Note that words of `size` bytes, `total` together, are about to be stored; see `UndoLog.note`."""
        if self.undo_log is not None:
            self.undo_log.note(part, offsets, total, size, threads, atomic)

    def note_semaphores(
        self,
        part: Space,
        offsets: Offsets,
        words: Ids,
        size: int,
        threads: Indices,
        operands: Ids | None = None,
    ) -> None:
        """Note that words (n,) are about to be written by which threads may wait; see `Semaphores.note`."""
        if self.semaphores is not None:
            on_data = self.on_data(threads)
            self.semaphores.note(
                part, offsets, words, size, threads, self.instruction, operands, on_data=on_data
            )

    def returned(self, part: Space, offsets: Offsets, before: Ids, threads: Indices) -> Ids:
        """Return what atomics return of words (n,) that held something before; see `Semaphores.returned`."""
        if self.semaphores is None:
            return part.atomics.returned(self.store, offsets, before)
        return self.semaphores.returned(part, offsets, before, threads, self.instruction)

    def in_order_after_all(self, part: Space, offsets: Offsets, threads: Indices) -> NDArray[np.bool_]:
        """Tell which threads (n,) know of all that was written to words (n,)."""
        if self.semaphores is None or part.name != "global":
            return np.zeros(len(threads), dtype=bool)
        known = map(self.semaphores.knows_all, offsets.tolist(), threads.tolist())
        return np.fromiter(known, dtype=bool, count=len(threads))

    def turns_of(self, threads: Indices) -> Indices:
        """Return numbers by which threads come to a place one after the other."""
        if not self.turns:
            return np.arange(len(threads))
        names = self.ordering.names[threads].tolist()
        return np.array([self.turns.get(name, -1) for name in names], dtype=np.intp)

    @property
    def found_wrong(self) -> bool:
        """Whether something has been reported that refutes the kernel."""
        return self._observations.refute

    def note_loads(self, space: str, lanes: ByteLanes, offsets: Offsets, count: int) -> None:
        """Note that the instruction loaded `count` bytes from each of some places of a state space."""
        if self._loads is not None:
            self._loads.add(space, self.instruction.line, lanes.terms[offsets[:, None] + np.arange(count)])

    def unsupported(self, message: str) -> NoReturn:
        """Stop the run: it depends on what is not modelled.

        Raises
        ------
        UnsupportedError
            Always.
        """
        raise UnsupportedError(message)

    # -- operands
    def read(self, operand: Operand, width: int, active: Indices) -> Value:
        """Return the values (n active,) of an operand, its low `width` bits where it has more.

        Raises
        ------
        InputError
            If it has fewer, or is no scalar.
        """
        match operand:
            case SpecialRegister():
                return self._cut(self._special_register(operand).at(active), width)
            case Symbol():
                return self._address(operand.name, width, active)
            case Register():
                return self._cut(self._register(operand, active), width)
            case Integer():
                return self._constant(operand.value, width, active)
            case HexFloat() | Decimal():
                return self._constant(float_encoding(operand, width), width, active)
            case Displaced(base, offset):
                return _displaced(self.store, self.read(base, width, active), offset)
            case Negated(register):
                value = self.read(register, 1, active)
                return compute(self.store, 1, [value], lambda n: ~n, self.inverted)
        raise InputError(f"{self.instruction.mnemonic} can't read {operand}")

    def guard(self, guard: Predicate, active: Indices) -> Value:
        """Return one bit (n active,): whether a guard lets a thread act."""
        value = self.read(Register(guard.name, "pred"), 1, active)
        return compute(self.store, 1, [value], lambda n: ~n, self.inverted) if guard.negated else value

    def numbers(self, operand: Operand, width: int, active: Indices, what: str) -> NDArray[np.uint64]:
        """Return the values of an operand that must not depend on the kernel's data.

        Raises
        ------
        DataDependenceError
            If it does; `what` says what it is for.
        """
        value = self.read(operand, width, active)
        require_known(f"{what} {operand} of {self.instruction.mnemonic}", value)
        return value.numbers

    def terms(self, operand: Operand, width: int, active: Indices) -> Ids:
        """Return the values of an operand as terms."""
        return self.read(operand, width, active).as_terms(self.store)

    def write(self, operand: Operand, value: Value, active: Indices) -> None:
        """Write the values (n active,) to a register, with zeros above where it is wider.

        Raises
        ------
        InputError
            If it is narrower, or nothing can be written to the operand.
        """
        if isinstance(operand, Sink):
            return
        if not isinstance(operand, Register) or isinstance(operand, SpecialRegister | Symbol):
            raise InputError(f"{self.instruction.mnemonic} can't write to {operand}")
        width = self.register_width(operand)
        if value.width > width:
            raise InputError(f"{operand} has {width} bits, {self.instruction.mnemonic} gives {value.width}")
        if value.width < width:
            value = _extended(self.store, value, width)
        if width == 1 and self.semaphores is not None:
            value = self.semaphores.tickets.resolved(value, active, self.ordering, self.instruction.line)
        if self._condition is not None:
            value = self._chosen(operand, value, active)
        before = None
        if len(active) != len(self.threads):
            before = self.registers.get(operand.name)
            if before is None:
                before = Value(width, np.zeros(len(self.threads), dtype=np.uint64))
                before = before.updated(np.flatnonzero(self.alive), self._undefined(operand, width))
        self.registers[operand.name] = value if before is None else before.updated(active, value)

    def write_terms(self, operand: Operand, terms: Ids, width: int, active: Indices) -> None:
        """Write terms to a register."""
        self.write(operand, of_terms(self.store, terms, width), active)

    def register_width(self, register: Register) -> int:
        """Return a register's bits.

        Raises
        ------
        UnsupportedError
            If it is wider than 64 bits, or a vector.
        """
        kind = self.function.registers.get(register.name, register.type) or ""
        width = TYPE_BITS.get(kind, 0)
        if not 0 < width <= 64:
            self.unsupported(f"register {register} of type .{kind}")
        return width

    def conditionally(self, step: Step, condition: Value, active: Indices) -> None:
        """Run an instruction that only writes registers, where a condition on data holds.

        Parameters
        ----------
        step : callable
            The instruction.
        condition : Value
            One bit for each active thread; where it doesn't hold, registers stay what they are.
        """
        assert condition.width == 1
        self._condition = condition
        try:
            step(self, active)
        finally:
            self._condition = None

    def inverted(self, terms: Ids) -> Ids:
        """Return terms with every bit flipped."""
        return bit_slices.bitwise(self.store, 0xFF ^ A, terms, terms, terms)

    # -- warps
    def whole_warps(self, active: Indices) -> Indices:
        """Return the active threads (warps, 32) of warps that are all active; report the others.

        A ``.aligned`` instruction has no meaning in the others.
        """
        if len(active) == len(self.threads):
            return active.reshape(-1, WARP)
        warps, counts = np.unique(active // WARP, return_counts=True)
        if len(partial := warps[counts < WARP]):
            here = active[np.isin(active // WARP, partial)]
            require_all(self.instruction, here, self.alive, self.elsewhere)
            some = f"{int(counts[counts < WARP][0])} of the {WARP} threads of a warp"
            self.report(Kind.DIVERGENCE, f"{self.instruction.mnemonic} is executed by {some}", here)
        whole: Indices = warps[counts == WARP][:, None] * WARP + np.arange(WARP)
        return whole

    # -- details
    def _special_register(self, register: SpecialRegister) -> Value:
        if (open_result := OPEN_REGISTERS.get(register.name)) is not None:
            return self._open_register(register, open_result)
        found = self.special.get(register.name)
        if found is None:
            self.unsupported(f"special register {register}")
        return found

    def _open_register(self, register: SpecialRegister, of: OpenResult) -> Value:
        """Return what nobody can rely on."""
        width, count = TYPE_BITS[str(register.type)], len(self.threads)
        return of_terms(self.store, self.store.undefined(count, width, of), width)

    def _register(self, register: Register, active: Indices) -> Value:
        value = self.registers.get(register.name)
        if value is None:
            width = self.register_width(register)
            value = Value(width, np.zeros(len(self.threads), dtype=np.uint64))
            value = value.updated(np.flatnonzero(self.alive), self._undefined(register, width))
            self.registers[register.name] = value
        return value if len(active) == len(self.threads) else value.at(active)

    def _undefined(self, register: Register, width: int) -> Value:
        return self.unwritten(register.name, width, int(self.alive.sum()))

    def unwritten(self, register: str, width: int, count: int) -> Value:
        """Return what some threads find in a register that they have not written."""
        terms = self.store.undefined(count, width)
        self.never_written.append((register, terms))
        return Value(width, np.zeros(count, dtype=np.uint64), terms)

    def _address(self, name: str, width: int, active: Indices) -> Value:
        """Return the address of a variable: in shared memory of a cluster, of each block's own."""
        found = self._constant(self.memory.address_of(name), width, active)
        more = self.memory.displacements(name)
        if more is None:
            return found
        return known((found.numbers + more[self.threads.block[active]]) & ones(width), width)

    def _constant(self, number: int, width: int, active: Indices) -> Value:
        return Value(width, np.full(len(active), number & int(ones(width)), dtype=np.uint64))

    def _cut(self, value: Value, width: int) -> Value:
        if value.width == width:
            return value
        if value.width < width:
            raise InputError(f"{self.instruction.mnemonic} reads {width} bits of a register of {value.width}")
        store = self.store
        return compute(store, width, [value], lambda n: n, lambda t: bit_slices.extract(store, t, 0, width))

    def _chosen(self, register: Register, value: Value, active: Indices) -> Value:
        assert self._condition is not None and len(self._condition) == len(active)
        return chosen(self.store, self._condition, value, self._register(register, active))


def _extended(store: TermStore, value: Value, width: int) -> Value:
    return compute(store, width, [value], lambda n: n, lambda t: bit_slices.zero_extend(store, t, width))


def _displaced(store: TermStore, value: Value, offset: int) -> Value:
    require_known("an address with an offset", value)
    return known(value.numbers + np.uint64(offset & 0xFFFFFFFFFFFFFFFF), value.width)
