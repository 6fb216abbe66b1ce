"""The protocol of front ends: a kernel that can be run on terms, and the outcome of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError, UnsupportedError
from ..contract.contract import Instance
from ..findings.candidate import Candidate
from ..findings.demangling import demangled
from ..findings.finding import KernelFinding, KernelNote
from ..findings.guard_outcomes import GuardOutcome
from ..terms.interning import Ids
from ..terms.store import TermStore
from .kernel_outline import KernelOutline
from .languages import front_end, language_of
from .memory import ByteLanes

Progress = Callable[[int, int], None]
"""Called with the work done, and all of it."""


@dataclass(frozen=True)
class FinalArray:
    """The contents of an array after the kernel.

    Attributes
    ----------
    lanes : ByteLanes
        Its bytes, as its footprint has them.
    lines : array (size,)
        The line of the last store to each of them, 0 where there was none.
    writers : array (size,)
        The thread of it, for `Outcome.thread_name`.
    overwritten : FinalArray, optional
        Stores to it whose place others took that nothing orders after them: one of each byte.
    """

    lanes: ByteLanes
    lines: NDArray[np.int32]
    writers: NDArray[np.int64]
    overwritten: FinalArray | None = None


LAUNCHED = 1 << 40
"""More threads than a launch has: their numbers are so much greater in each launch than in the one before."""


@dataclass(frozen=True)
class Outcome:
    """The final state of a run at one set of sizes.

    Attributes
    ----------
    arrays : mapping of str to FinalArray
        Final contents, by the array's name.
    findings : tuple of KernelFinding
        What is wrong with it, or not modelled.
    loads : mapping of int to array
        The input terms that each line loaded from the kernel's arrays, of a run that is traced.
    shared_loads : mapping of int to array
        Those that each line loaded from memory that threads share then.
    block_threads : int
        How many numbers of `FinalArray.writers` a block of threads has.
    complete : bool
        Whether the kernel came to its end; if not, the arrays mean nothing.
    unordered : bool
        Whether floats are summed in an order, or fused with products, as the language leaves open: no float
        has certain bits then.
    reordered : bool
        Whether it is the order that is open, so that partial sums may be others than those of the terms.
    alignments : mapping of str to int
        To how many bytes the accesses of the kernel need each array to be aligned.
    depends : array
        Terms that kept the kernel from its end: an address or a branch depends on them.
    stats : mapping
        Counts.
    thread_name : callable
        Names a thread of `FinalArray.writers`.
    guards : tuple of GuardOutcome
        What guards were that depend on sizes.
    assumptions : tuple of str
        What is taken for granted of how the kernel is run.
    notes : tuple of KernelNote
        What is no fault, and a reader should know.
    several : tuple of (str, Outcome)
        The names and outcomes of each launch, where there are several; threads are numbered then from
        `LAUNCHED` times a launch's place among them.
    """

    arrays: Mapping[str, FinalArray]
    findings: tuple[KernelFinding, ...]
    loads: Mapping[int, Ids]
    shared_loads: Mapping[int, Ids]
    block_threads: int
    complete: bool
    unordered: bool
    reordered: bool
    alignments: Mapping[str, int]
    depends: Ids
    stats: Mapping[str, Any]
    thread_name: Callable[[int], str]
    guards: tuple[GuardOutcome, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[KernelNote, ...] = ()
    several: tuple[tuple[str, Outcome], ...] = ()


class Kernel(Protocol):
    """A kernel, read and ready to run."""

    path: str
    entry: str

    @property
    def target(self) -> str:
        """The processor that it is for."""
        ...

    def source(self, line: int) -> str:
        """Return where the compiler says that a line comes from, as ``file:line``, if it does."""
        ...

    def place(self, line: int) -> str:
        """Return address and function of an instruction of object code, which has no lines; else nothing."""
        ...

    def control_part(self) -> Kernel:
        """Return a kernel that takes the same branches, with less to run; itself where none is known."""
        ...

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: NDArray[np.intp] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run the kernel.

        Parameters
        ----------
        instance : Instance
            Its launch and its parameters.
        store : TermStore
            Where terms are made.
        inputs : mapping of str to array
            The elements, by linear index, of every array that can be read, and the term of every scalar.
        progress : callable, optional
            Told how far it is.
        blocks : array, optional
            The only blocks of threads that run, of a kernel in which no race is to be looked for.
        before : mapping of str to ByteLanes, optional
            What arrays hold before the kernel, of those that hold something else than the inputs.
        traced : bool
            Keep `Outcome.loads` and `Outcome.shared_loads`.

        Raises
        ------
        InputError
            If the kernel can't be launched so.
        """
        ...


def read_kernel(isa: str, path: Path, entry: str | None, target: str | None) -> Kernel:
    """Read a kernel.

    Parameters
    ----------
    isa : str
        Its language.
    path : Path
        The file.
    entry : str, optional
        Its name; the only one of the file by default.
    target : str, optional
        The processor it is for, where the file does not say.

    Raises
    ------
    InputError
        If the file can't be read, or has no such kernel.
    UnsupportedError
        If there is no front end for the language.
    """
    return cast(Kernel, front_end(isa).read_kernel(path, entry, target))


def read_outline(path: Path, entry: str | None) -> KernelOutline:
    """Read what a kernel says of its launch and does with its parameters; see `read_kernel`."""
    module = front_end(language_of(path))
    return cast(KernelOutline, module.read_outline(path, entry))


def list_candidates(path: Path) -> list[Candidate]:
    """Return the kernels of a file, with their matrix instructions.

    Raises
    ------
    InputError
        If the file can't be read.
    UnsupportedError
        If the kernels of such files are not listed.
    """
    language = language_of(path)
    module = front_end(language)
    if not hasattr(module, "candidates_of"):
        raise UnsupportedError(f"the kernels of {path}: {language} files are not listed")
    return cast(list[Candidate], module.candidates_of(path))


def only_entry(names: list[str], path: Path) -> str:
    """Return the only kernel of a file.

    Raises
    ------
    InputError
        If there are more, or none.
    """
    if len(names) != 1:
        found = ", ".join(map(demangled, names)) or "none"
        raise InputError(f"{path} has {len(names)} kernels ({found}): name one as entry in [kernel]")
    return names[0]
