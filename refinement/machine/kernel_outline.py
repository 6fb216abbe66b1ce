"""Static outline of a kernel: its launch, and its uses of parameters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryAccess:
    """An access to the memory that a pointer leads to.

    Attributes
    ----------
    line : int
        Of the kernel's file.
    mnemonic : str
        The instruction.
    size : int
        Bytes for each thread; 0 where it is not a thread's.
    type : str, optional
        Of an element, where instructions that use what is moved say it.
    reads, writes : bool
        What it does.
    """

    line: int
    mnemonic: str
    size: int
    type: str | None
    reads: bool
    writes: bool


@dataclass(frozen=True)
class ParameterUse:
    """A parameter of a kernel.

    Attributes
    ----------
    name : str
        As the kernel calls it.
    size : int
        Bytes.
    type : str, optional
        Of the value, where an instruction that uses it or the declaration says more than a width.
    offset : int, optional
        Where it begins, in bytes, if it is a field of a structure.
    fields : tuple of ParameterUse
        What the kernel loads of a structure.
    is_structure : bool
        Whether it is declared as an array of bytes: a structure passed by value.
    is_pointer : bool
        Whether addresses of memory are reckoned from it, or it is declared as a pointer.
    alignment : int, optional
        Of what it points to, where the kernel declares that.
    accesses : tuple of MemoryAccess
        Through it.
    step : int, optional
        The bytes that one more of an index goes on: those of an element.
    indices : tuple of str
        Other parameters that go into addresses reckoned from it.
    compared : tuple of int
        Lines in which it is compared, or what is reckoned from it; of a pointer, with 0.
    used : bool
        Whether it is loaded at all.
    is_index : bool
        Whether addresses depend on what the memory holds that it points to.
    behind : ParameterUse, optional
        What is done with the memory that the addresses lead to which it points to.
    map_rank : int
        Dimensions of the tensor map that it is, as copies name it; 0 if it is none.
    """

    name: str
    size: int
    type: str | None
    offset: int | None
    fields: tuple[ParameterUse, ...]
    is_structure: bool
    is_pointer: bool
    alignment: int | None
    accesses: tuple[MemoryAccess, ...]
    step: int | None
    indices: tuple[str, ...]
    compared: tuple[int, ...]
    used: bool
    is_index: bool = False
    behind: ParameterUse | None = None
    map_rank: int = 0

    @property
    def is_read(self) -> bool:
        """Whether memory is read through it."""
        return any(access.reads for access in self.accesses)

    @property
    def is_written(self) -> bool:
        """Whether memory is written through it."""
        return any(access.writes for access in self.accesses)


@dataclass(frozen=True)
class KernelOutline:
    """The static outline of a kernel.

    Attributes
    ----------
    isa, path, entry, target : str
        Its language, file, name, and the processor that the file names.
    block : tuple of int, optional
        The extents that it must be launched with.
    most_threads : int, optional
        Of a block, where it is launched with any extents.
    shared : int
        Bytes of shared memory that it has itself.
    dynamic : tuple of (str, int)
        Names and alignments of shared memory whose extent is told at launch.
    products : tuple of str
        Its matrix products, each mnemonic once.
    parameters : tuple of ParameterUse
        In order.
    threads : bool
        Whether its blocks have threads.
    launched : bool
        Whether it is launched in blocks, and not called.
    targets : tuple of str
        The processors that it may be for, where the file names none.
    multiplied, summed : tuple of str
        Types of what its products multiply, and of what they add it to.
    swizzles : tuple of int
        Bytes of swizzled rows that descriptors of its products may say, as far as constants tell.
    expected : tuple of (int, int)
        Bytes of copies that barrier objects expect, each with the first line that says so.
    """

    isa: str
    path: str
    entry: str
    target: str
    block: tuple[int, ...] | None
    most_threads: int | None
    shared: int
    dynamic: tuple[tuple[str, int], ...]
    products: tuple[str, ...]
    parameters: tuple[ParameterUse, ...]
    threads: bool = True
    launched: bool = True
    targets: tuple[str, ...] = ()
    multiplied: tuple[str, ...] = ()
    summed: tuple[str, ...] = ()
    swizzles: tuple[int, ...] = ()
    expected: tuple[tuple[int, int], ...] = ()

    @property
    def leaves(self) -> tuple[ParameterUse, ...]:
        """The parameters, and in place of structures the fields that the kernel loads."""
        return tuple(
            leaf
            for parameter in self.parameters
            for leaf in (
                parameter.fields if parameter.is_structure and not parameter.map_rank else (parameter,)
            )
        )

    @property
    def arrays(self) -> tuple[ParameterUse, ...]:
        """The pointers and maps among its leaves, and in place of addresses in memory what they lead to."""
        return tuple(leaf.behind or leaf for leaf in self.leaves if leaf.is_pointer or leaf.map_rank)
