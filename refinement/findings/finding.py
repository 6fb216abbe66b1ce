"""Findings of a verification: wrong values, bad accesses, races, and what is not modelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...spec.json_fields import Natural, Positive

MOST = 8
"""Notes of one sort that are told."""


class Kind(StrEnum):
    """What a finding is about; see ``docs/json-schemas.md``."""

    WRONG_VALUE = "wrong-value"
    MISSING_OUTPUT = "missing-output"
    OUT_OF_BOUNDS = "out-of-bounds"
    CLOBBERED = "clobbered"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised"
    RACE = "race"
    DEADLOCK = "deadlock"
    DIVERGENCE = "divergence"
    ILLEGAL = "illegal"
    UNDEFINED = "undefined"
    REGISTER = "clobbered-register"
    ACCUMULATOR = "accumulator-state"
    PENDING = "pending-registers"
    PROXY = "missing-proxy-fence"
    LIFETIME = "block-lifetime"
    UNSUPPORTED = "unsupported"
    INACCURATE = "inaccurate"
    UNDECIDED = "undecided"

    @property
    def refutes(self) -> bool:
        """Whether the kernel is wrong, not merely beyond what is modelled or can be shown."""
        return self not in (Kind.UNSUPPORTED, Kind.UNDECIDED)

    @property
    def meaning(self) -> str:
        """What is the matter with a kernel that such a finding is about, in one line."""
        return _MEANINGS[self]


_MEANINGS = {
    Kind.WRONG_VALUE: "the kernel computes a value that differs from its contract",
    Kind.MISSING_OUTPUT: "the kernel leaves an output element unwritten",
    Kind.OUT_OF_BOUNDS: "the kernel accesses memory outside its arrays and variables",
    Kind.CLOBBERED: "the kernel changes memory that its contract does not let it write",
    Kind.MISALIGNED: "the kernel accesses an address that lacks the alignment of the access",
    Kind.UNINITIALISED: "the kernel reads memory or a register that was never written",
    Kind.RACE: "two threads or pipes access the same memory, one of them writing, without synchronisation",
    Kind.DEADLOCK: "the kernel waits for an event that never happens",
    Kind.DIVERGENCE: "only some of the threads execute an instruction that all of them must execute together",
    Kind.ILLEGAL: "the kernel has an instruction or a launch that its target does not support",
    Kind.UNDEFINED: "the kernel executes an operation whose result is undefined",
    Kind.REGISTER: "the kernel does not restore a register that its caller owns",
    Kind.ACCUMULATOR: "the kernel breaks a rule for the use of accumulators or of the registers below them",
    Kind.PENDING: "the kernel uses registers of an asynchronous product without the fence or wait this needs",
    Kind.PROXY: "an asynchronous instruction may not see an earlier write: no proxy fence lies between them",
    Kind.LIFETIME: "a block accesses shared memory of another block, which may have ended or not have begun",
    Kind.UNSUPPORTED: "the kernel does something that is not modelled, so it is not judged",
    Kind.INACCURATE: "on the inputs found, the kernel's error exceeds the limit of its contract",
    Kind.UNDECIDED: "the kernel is not shown to be right, and no inputs are found on which it is wrong",
}


@dataclass(frozen=True)
class KernelNote:
    """What a reader of a verdict should know, and is no fault.

    Attributes
    ----------
    message : str
        What is so.
    file : str
        The kernel's file.
    line : int
        The line of it, 0 where there is none.
    source : str
        Where the compiler says that the line comes from, as ``file:line``; empty where it does not.
    count : int
        How many lines it is about.
    other_line : int
        Of two instructions, the line of the other; 0 of others.
    """

    message: str
    file: str = ""
    line: Natural = 0
    source: str = ""
    count: Positive = 1
    other_line: Natural = 0

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        where = f"{self.source} ({where})" if self.source else where
        lines = "line" if self.count == 2 else "lines"
        more = f" (and of {self.count - 1} more {lines})" if self.count > 1 else ""
        return f"{where}: {self.message}{more}"


def some_of(notes: Sequence[KernelNote], rest: str) -> list[KernelNote]:
    """Return the first notes of one sort, and of the others how many there are, and what they say."""
    if len(notes) <= MOST:
        return list(notes)
    return [*notes[:MOST], KernelNote(f"{len(notes) - MOST} {rest}", notes[0].file)]


@dataclass(frozen=True)
class KernelFinding:
    """One thing found.

    Attributes
    ----------
    kind : Kind
        What it is about.
    message : str
        What is wrong, with the values concerned.
    file : str
        The kernel's file.
    line : int
        The line of it, 0 where there is none.
    thread : str
        Block and thread, empty where it is none's.
    output : str
        The output element concerned, empty where it is none's.
    source : str
        Where the compiler says that the line comes from, as ``file:line``; empty where it does not. Of object
        code, which has no lines, also address and function.
    count : int
        How many elements, or accesses of threads, it is known to be about.
    other_line : int
        Of a race within a block, the line of the earlier access; 0 of others.
    other_source : str
        Where the compiler says that that line comes from; empty where it does not.
    """

    kind: Kind
    message: str
    file: str = ""
    line: Natural = 0
    thread: str = ""
    output: str = ""
    source: str = ""
    count: Positive = 1
    other_line: Natural = 0
    other_source: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        if self.source:
            where = f"{self.source} ({where[:-2]}): "
        more = f", and {self.count - 1} more" if self.count > 1 else ""
        who = f" ({self.thread}{more})" if self.thread else ""
        other = f"; line {self.other_line} is {self.other_source}" if self.other_source else ""
        return f"{where}{self.kind}: {self.message}{other}{who}"
