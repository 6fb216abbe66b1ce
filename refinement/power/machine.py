"""The Power machine: one thread, with control flow and addresses concrete and data symbolic."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ...spec.errors import UnsupportedError
from ..conditions.feasible_conditions import holds_for_some
from ..findings.finding import Kind
from ..machine.observations import Loads, Observations
from ..machine.run_lengths import Limits, RunLength
from ..terms.interning import Ids
from ..terms.store import TermStore
from ..terms.traversal import leaves_of
from .branch_paths import BranchWays, Parting
from .image.instruction_forms import Instruction
from .image.program import Image
from .state import accumulator_rules
from .state.registers import Bytes, Registers
from .state.storage import RED_ZONE, Segment, Storage
from .state.words import Data, UnknownNumberError, Word, WordArithmetic, known

RETURN = 0x7FFF_FFFF_0000
"""The address to which the function that is verified returns."""

Handler = Callable[["Machine", Instruction], None]
"""Carries an instruction out."""

Modelled = Callable[["Machine"], int | None]
"""Does what a library's function does; returns the double that it returns in f1, if it does."""

LIMITS = Limits(steps=1 << 24, steps_after_fault=1 << 16)
"""What a call of the function may take."""

_CHECKED = 1024
"""Instructions between two looks at how long it has taken."""

_CALLS = frozenset({"bl", "bcl", "bclrl", "bcctrl"})

_PROGRESS = 4096
"""Instructions between two calls of the progress."""


@dataclass(frozen=True)
class _Code:
    """An instruction at its place, ready to run."""

    instruction: Instruction
    handler: Handler
    line: int
    following: int


class Machine:
    """A processor with a program in its memory.

    Parameters
    ----------
    store : TermStore
        Where terms are made.
    image : Image
        The program.
    segments : list of Segment
        Memory.
    handlers : mapping
        What carries an instruction out, by its mnemonic.
    functions : mapping of str to callable
        Functions of libraries that are modelled, by name.
    path : str
        The file, for findings.
    loads : Loads, optional
        Told what each line loads.
    scalars : collection of int
        The inputs that scalars are.
    shared : bool
        Whether accumulators are the storage of their vector-scalar registers.

    Attributes
    ----------
    line : int
        Of the instruction that runs.
    following : int
        The address of the next one.
    path : int or Data
        One bit: for which data the instruction runs.
    ways : BranchWays
        Goes ways of branches on data.
    parting : Parting, optional
        The branch on data that has just run.
    entered : set of int
        Where functions that have been called begin.
    assumptions : dict of str to None
        What is taken for granted of functions of libraries, in the order of their calls.
    is_nowhere : bool
        Whether loads leave zeros and stores nothing, whatever the address.
    """

    def __init__(
        self,
        store: TermStore,
        image: Image,
        segments: list[Segment],
        handlers: Mapping[str, Handler],
        functions: Mapping[str, Modelled],
        path: str,
        loads: Loads | None = None,
        *,
        scalars: Collection[int] = (),
        shared: bool = False,
    ) -> None:
        self.store = store
        self.image = image
        self.registers = Registers(store, shared=shared)
        self.words = WordArithmetic(store)
        self.observations = Observations(path)
        self.storage = Storage(store, segments, self.report, self.hold)
        self.loads = loads
        self.line = 0
        self.following = 0
        self.address = 0
        self.instructions = 0
        self._length = RunLength(store)
        self.depends: Ids = np.zeros(0, dtype=np.int32)
        self._handlers = handlers
        self._functions = functions
        self._code: dict[int, _Code] = {}
        self.path: Word = 1
        self.parting: Parting | None = None
        self.entered: set[int] = set()
        self.assumptions: dict[str, None] = {}
        self.is_nowhere = False
        self.ways = BranchWays(self, scalars)
        self._progress: Callable[[int, int], None] | None = None

    # -- findings
    def report(self, kind: Kind, message: str) -> None:
        """Note a finding at the instruction that runs; undecided where no data are found that lead there."""
        self.observations.add(*self._weighed(kind, message), self.line)

    def hold(self, kind: Kind, message: str, undefined: Ids) -> None:
        """Note what is a finding if something comes to depend on undefined terms; see `report`."""
        self.observations.hold(*self._weighed(kind, message), self.line, "", 1, undefined)

    def _weighed(self, kind: Kind, message: str) -> tuple[Kind, str]:
        if kind.refutes and not self._is_reached():
            return Kind.UNDECIDED, f"if data lead here, which is not known: {message}"
        return kind, message

    def _is_reached(self) -> bool:
        """Tell whether data are known for which the instruction runs."""
        return holds_for_some(self.store, self.path.term) if isinstance(self.path, Data) else bool(self.path)

    def unsupported(self, what: str) -> UnsupportedError:
        """Return the error that something of the instruction that runs is not modelled."""
        return UnsupportedError(f"{what} (at {self.image.spelled(self.address)})")

    # -- the run
    def run(self, entry: int, progress: Callable[[int, int], None] | None = None) -> bool:
        """Run from an address until the function returns; tell whether it did."""
        started = time.perf_counter()
        at, self._progress = entry, progress
        self.entered.add(entry)
        try:
            while at != RETURN:
                before, at = at, self.step(at)
                if self.parting is not None:
                    parting, self.parting = self.parting, None
                    at = self.ways.meet(before, parting)
        except UnknownNumberError as error:
            self.depends = np.array([error.term], dtype=np.int32)
            self.observations.release(self.store, self.depends)
            self.report(*self._reason(error))
        except UnsupportedError as error:
            self.report(Kind.UNSUPPORTED, str(error))
        finally:
            self.seconds = time.perf_counter() - started
        return at == RETURN

    def step(self, at: int) -> int:
        """Run the instruction at an address, or a library's function; return where it goes on."""
        code = self._code.get(at)
        if code is None:
            if at in self.image.imports:
                return self._call_import(self.image.imports[at])
            self.address = at
            code = self._code[at] = self._prepared(at)
        self.address, self.following = at, code.following
        self.line = self.store.line = code.line
        code.handler(self, code.instruction)
        self.instructions += 1
        if self.instructions % _CHECKED == 0:
            self._check_length()
        if self._progress is not None and self.instructions % _PROGRESS == 0:
            self._progress(self.instructions, 0)
        return self.following

    def part(self, condition: int, *, branches_if: bool, target: int) -> None:
        """Note that data decide whether the instruction branches."""
        target = target if target == RETURN else target & ~3
        self.parting = Parting(condition, branches_if, target, self.following)

    def behind_call(self, at: int) -> int | None:
        """Return where a call returns to; None if the instruction at an address is none."""
        instruction = None if at in self.image.imports else self.image.instruction(at)
        if isinstance(instruction, Instruction) and instruction.mnemonic in _CALLS:
            return at + instruction.size
        return None

    def _check_length(self) -> None:
        excess = self._length.excess(LIMITS, self.instructions, wrong=self.observations.refute)
        if excess:
            raise self.unsupported(excess)

    def _prepared(self, at: int) -> _Code:
        self.line = self.image.line_of(at)
        found = self.image.instruction(at)
        if isinstance(found, str):
            raise UnsupportedError(found)
        handler = self._handlers.get(found.mnemonic)
        if handler is None:
            raise UnsupportedError(f"{found.text(at)} at {self.image.spelled(at)} is not modelled")
        if found.size == 8 and at % 64 == 60:
            self.report(Kind.ILLEGAL, f"{found.text(at)} lies across a multiple of 64 bytes")
        if found.form.specified is not None:
            accumulator_rules.report_violations(self, found)
        return _Code(found, handler, self.line, at + found.size)

    def _reason(self, error: UnknownNumberError) -> tuple[Kind, str]:
        leaves = leaves_of(self.store, np.array([error.term], dtype=np.int32))
        names = {term: name for name, term in self.registers.initial.items()}
        known_leaves = [names[int(leaf)] for leaf in leaves if int(leaf) in names]
        if known_leaves and not self.store.are("input", leaves).any():
            return Kind.UNINITIALISED, f"{error.what} depends on {known_leaves[0]}, which was never written"
        return Kind.UNSUPPORTED, f"{error} (at {self.image.spelled(self.address)})"

    def _call_import(self, name: str) -> int:
        """Do what a function of a library does, and return where it returns to."""
        model = self._functions.get(name.partition("@")[0])
        if model is None:
            raise UnsupportedError(f"a call of {name}, which is not in the file")
        accumulator_rules.check_call(self, name)
        result = model(self)
        self.registers.forget_volatile()
        if result is not None:
            self.registers.general[3] = Data(int(self.store.undefined(1, 64)[0]))
            self.registers.set_scalar(1, result, zeroed=False)
        return self.number(self.registers.link, "the return address")

    # -- registers
    def number(self, word: Word, what: str) -> int:
        """Return a number; see `words.known`."""
        return known(what, word)

    def base(self, register: int) -> Word:
        """Return a register, or 0 for r0."""
        return self.registers.general[register] if register else 0

    def set_general(self, register: int, word: Word) -> None:
        """Write a register; the stack pointer moves the stack's end."""
        self.registers.general[register] = word
        if register == 1:
            self.storage.low = self.number(word, "the stack pointer") - RED_ZONE

    def record(self, word: Word) -> None:
        """Set CR0 as an instruction with a period does."""
        self.set_field(0, self.words.compared(word, 0, 64, sign=True))

    def set_field(self, field: int, order: tuple[Word, Word, Word]) -> None:
        """Set a field of CR to less, greater, equal, and XER's SO."""
        self.registers.conditions[4 * field : 4 * field + 4] = [*order, self.registers.overflow]

    # -- memory
    def effective(self, base: Word, displacement: Word) -> int:
        """Return an address."""
        return self.number(self.words.add(base, displacement), "an address")

    def load(self, address: int, count: int, mnemonic: str) -> Bytes:
        """Return bytes of memory."""
        if self.is_nowhere:
            return self.store.constants(np.zeros(count), 8), np.zeros(count, dtype=np.uint8)
        data = self.storage.load(address, count, mnemonic, self.line)
        if self.loads is not None:
            self.loads.add("global", self.line, data[0])
        return data

    def save(self, address: int, data: Bytes, mnemonic: str) -> None:
        """Write bytes to memory."""
        if self.is_nowhere:
            return
        self.storage.save(address, *data, mnemonic, self.line)

    def word_of(self, data: Bytes) -> Word:
        """Return bytes as one little-endian word."""
        terms, lows = data
        absent = terms < 0
        if absent.any():
            terms = terms.copy()
            terms[absent] = self.store.undefined(int(absent.sum()), 8)
        return self.words.word(int(self.storage.lanes.joined(terms[None], lows[None])[0]))

    def bytes_of(self, word: Word, size: int) -> Bytes:
        """Return the bytes of a word, least significant first."""
        terms, lows = self.storage.lanes.bytes_of(np.array([self.words.term(word, 8 * size)], dtype=np.int32))
        return terms[0], lows[0]

    def branch(self, address: Word, *, links: bool) -> None:
        """Go on at an address."""
        target = self.number(address, "a branch")
        if links:
            self.registers.link = self.following
            self.entered.add(target & ~3)
        self.following = target & ~3 if target != RETURN else target
