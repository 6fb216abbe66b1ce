"""Instructions on named arrays, as `mmaproof run` executes them: a matrix view and a register view.

An instruction says what it reads and writes, name by name: a `Matrix`, or `Words` that stay as they are.
In the matrix view a matrix comes as numbers, or as encodings under ``name_bits``; in the register view
it comes as raw words, and what holds it (a `Fragment`) gathers and scatters it. Batch axes come first and
broadcast. `execute` does the rest: it refuses arrays that are missing, unknown, or of the wrong shape, type
or value, and applies the instruction's semantics to a block of the batch at a time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Protocol

import numpy as np

from .algebra import Algebra, Array
from .drawn_arrays import DrawnArrays, drawn
from .errors import InputError
from .formats import U8, Bits, Format
from .numpy_algebra import NumpyAlgebra
from .values import checked_encodings, encodings_of_values, values_of_encodings

ALGEBRA = NumpyAlgebra()

_BLOCK = 1 << 17
"""Products computed at a time: their temporaries stay in a core's cache."""


class Held(Protocol):
    """How registers hold a matrix."""

    @property
    def word(self) -> Format:
        """Format of a register."""
        ...

    @property
    def words(self) -> tuple[int, ...]:
        """Extents of the array of registers."""
        ...

    def gather(self, alg: Algebra, registers: Array) -> Array:
        """Read registers (…, *words) as the matrix of encodings."""
        ...

    def scatter(self, alg: Algebra, matrix: Array) -> Array:
        """Write a matrix of encodings to registers, the inverse of `gather`."""
        ...


@dataclass(frozen=True)
class ArrayOperand(ABC):
    """What an instruction reads under a name.

    Attributes
    ----------
    shape : tuple of int
        Extents, after the batch's.
    """

    shape: tuple[int, ...]

    @property
    def axes(self) -> int:
        """How many axes are its own."""
        return len(self.shape)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the arrays that may hold it."""
        return (name,)

    def drawn(self, name: str, generator: np.random.Generator) -> dict[str, Array]:
        """Return an array of random elements, by its name.

        Raises
        ------
        InputError
            If it is nothing that can be drawn, such as memory or addresses.
        """
        raise InputError(f"{name} can't be drawn: give its numbers")

    @abstractmethod
    def read(self, name: str, arrays: Mapping[str, Array], instruction: str) -> Array:
        """Return it.

        Raises
        ------
        InputError
            If it is missing, or of the wrong shape, type or value.
        """


@dataclass(frozen=True)
class Words(ArrayOperand):
    """Raw registers, bytes, or encodings in a buffer.

    Attributes
    ----------
    dtype : numpy dtype
        Their type.
    absent : str
        What it means that they are missing.
    """

    dtype: np.dtype[np.unsignedinteger]
    absent: str = ""

    def drawn(self, name: str, generator: np.random.Generator) -> dict[str, Array]:
        """Return random bits."""
        return {name: generator.integers(0, np.iinfo(self.dtype).max, self.shape, self.dtype, endpoint=True)}

    def read(self, name: str, arrays: Mapping[str, Array], instruction: str) -> Bits:
        """Return the array."""
        if name not in arrays:
            takes = f"{instruction} takes {shown(self.shape)} {self.dtype}"
            raise InputError(f"{missing(arrays, name, self.absent)}; {takes}")
        array = arrays[name]
        if array.dtype != self.dtype:
            raise InputError(f"{name} has dtype {array.dtype}; it must be {self.dtype}")
        return of_shape(name, array, self.shape)


@dataclass(frozen=True)
class ByteArray(ArrayOperand):
    """Memory: bytes, as many as there are."""

    shape: tuple[int, ...] = (-1,)

    def read(self, name: str, arrays: Mapping[str, Array], instruction: str) -> Bits:
        """Return the array."""
        memory = required(arrays, name, f"{instruction} takes (…, bytes) uint8")
        if memory.ndim == 0:
            raise InputError(f"{name} is a single number; it must be (…, bytes) uint8")
        return Words(memory.shape[-1:], U8.storage).read(name, arrays, instruction)


@dataclass(frozen=True)
class IntegerArray(ArrayOperand):
    """Integers of any type: addresses, indices, sizes; without a shape one integer, without a batch."""

    shape: tuple[int, ...] = ()

    def read(self, name: str, arrays: Mapping[str, Array], instruction: str) -> Array:
        """Return the array, of int64."""
        wanted = f"integers {shown(self.shape)}" if self.shape else "one integer"
        found = required(arrays, name, f"{instruction} takes {wanted}")
        fits = found.shape[-len(self.shape) :] == self.shape if self.shape else found.size == 1
        if found.dtype.kind not in "iu" or not fits:
            raise InputError(f"{name} has dtype {found.dtype} and shape {found.shape}; it must be {wanted}")
        return (found if self.shape else found.reshape(())).astype(np.int64)


@dataclass(frozen=True)
class Matrix(ArrayOperand):
    """A matrix of elements; leading extents may count matrices.

    Attributes
    ----------
    format : Format
        Of the elements.
    held : Held, optional
        How registers hold it; without, there is no register view.
    absent : str
        What it means that it is missing.
    """

    format: Format
    held: Held | None = None
    absent: str = ""

    @cached_property
    def registers(self) -> Words:
        """The operand of the register view."""
        assert self.held is not None
        return Words(self.held.words, self.held.word.storage, self.absent)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of numbers and of encodings."""
        return name, f"{name}_bits"

    def read(self, name: str, arrays: Mapping[str, Array], instruction: str) -> Bits:
        """Return the encodings, of numbers or as they are given."""
        given = [key for key in self.names(name) if key in arrays]
        if len(given) != 1:
            problem = (
                f"both {name} and {name}_bits are given" if given else missing(arrays, name, self.absent)
            )
            takes = f"{instruction} takes one of them, {shown(self.shape)} of {self.format}"
            raise InputError(f"{problem}; {takes}")
        array = of_shape(given[0], arrays[given[0]], self.shape)
        encode = encodings_of_values if given[0] == name else checked_encodings
        return encode(given[0], array, self.format)

    def drawn(self, name: str, generator: np.random.Generator) -> dict[str, Array]:
        """Return random encodings of finite numbers."""
        return {f"{name}_bits": drawn(generator, self.format, self.shape)}

    def written(self, name: str, bits: Bits) -> dict[str, Array]:
        """Return the arrays of a result: numbers and encodings."""
        return {name: values_of_encodings(bits, self.format), f"{name}_bits": bits}


Arrays = Mapping[str, Array]
Check = Callable[[Arrays], None]

Semantics = Callable[[Algebra, Arrays], Arrays]
"""From encodings (…, *shape) of the operands to those of results, and any other arrays that it gives."""


class Observer(Protocol):
    """Sees what is executed: its semantics can be run again, in another algebra."""

    def __call__(
        self,
        semantics: Semantics,
        given: Arrays,
        operands: Mapping[str, Matrix],
        results: Mapping[str, Matrix],
    ) -> None:
        """See one execution on encodings, batch axes first."""
        ...


def execute(
    instruction: str,
    operands: Mapping[str, Matrix],
    results: Mapping[str, Matrix],
    compute: Semantics,
    arrays: Arrays,
    *,
    as_registers: bool,
    work: int,
    unread: Mapping[str, ArrayOperand] = MappingProxyType({}),
    check: Check | None = None,
    check_registers: Check | None = None,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute an instruction on arrays.

    Parameters
    ----------
    instruction : str
        Its name, for messages.
    operands, results : mapping of str to Matrix
        What it reads and writes.
    compute : callable
        Its semantics; arrays that are no `results` stay as they are.
    arrays : mapping
        What is given.
    as_registers : bool
        Register view instead of matrix view.
    work : int
        Products of one execution, by which a batch is cut into blocks.
    unread : mapping of str to ArrayOperand, optional
        Further operands that may be given.
    check, check_registers : callable, optional
        Refuse operands, and in the register view raw words, for which there is no result.
    observer : Observer, optional
        Told what is executed.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value.
    """
    if as_registers:
        words = {name: operand.registers for name, operand in operands.items()}
        held = read(instruction, words, arrays, unread)
        if check_registers is not None:
            check_registers(held)
        given = {name: _held(operands[name]).gather(ALGEBRA, array) for name, array in held.items()}
    else:
        given = read(instruction, operands, arrays, unread)
    if check is not None:
        check(given)
    if observer is not None:
        observer(compute, given, operands, results)
    axes = {name: operand.axes for name, operand in operands.items()}
    computed = in_blocks(partial(compute, ALGEBRA), given, axes, work)
    found: dict[str, Array] = {}
    for name, array in computed.items():
        if name not in results:
            found[name] = array
        elif as_registers:
            found[name] = _held(results[name]).scatter(ALGEBRA, array)
        else:
            found |= results[name].written(name, array)
    return found


def _held(operand: Matrix) -> Held:
    assert operand.held is not None
    return operand.held


def read(
    instruction: str,
    operands: Mapping[str, ArrayOperand],
    arrays: Arrays,
    unread: Mapping[str, ArrayOperand] = MappingProxyType({}),
) -> dict[str, Array]:
    """Return the arrays of all operands, and refuse any other, but for `unread` ones.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value.
    """
    if isinstance(arrays, DrawnArrays):
        arrays = _shaped(instruction, {**unread, **operands}, arrays, operands)
    spellings = [operand.names(name) for name, operand in {**operands, **unread}.items()]
    known = [names[0] for names in spellings] + [other for names in spellings for other in names[1:]]
    refuse_unknown(arrays, known, instruction)
    return {name: operand.read(name, arrays, instruction) for name, operand in operands.items()}


def _shaped(
    instruction: str, operands: Mapping[str, ArrayOperand], given: DrawnArrays, needed: Collection[str]
) -> Arrays:
    """Return numbers that were given without a shape as arrays, and draw what else is needed."""
    known = [spelled for name, each in operands.items() for spelled in each.names(name)]
    refuse_unknown(given.literals, known, instruction)
    found: dict[str, Array] = {}
    for name, operand in operands.items():
        for key in operand.names(name):
            if (array := given.of_shape(key, operand.shape)) is not None:
                found[key] = array
        generator = given.generator(name)
        if name in needed and generator is not None and not found.keys() & set(operand.names(name)):
            found |= operand.drawn(name, generator)
    return found


def in_blocks(
    compute: Callable[[Arrays], Arrays], operands: Arrays, axes: Mapping[str, int], work: int
) -> Arrays:
    """Compute results for broadcast batches of operands, a block of the batch at a time."""
    batch = common_batch(operands, axes)
    with np.errstate(all="ignore"):
        if not batch:
            return compute(operands)
        count = math.prod(batch)
        flat = {
            name: np.broadcast_to(array, (*batch, *own)).reshape(count, *own)
            for name, array in operands.items()
            for own in [array.shape[array.ndim - axes[name] :]]
        }
        found: dict[str, Array] = {}
        for block in blocks(max(1, count), _BLOCK // max(1, work)):
            for name, part in compute({name: array[block] for name, array in flat.items()}).items():
                if name not in found:
                    found[name] = np.empty((count, *part.shape[1:]), dtype=part.dtype)
                found[name][block] = part
    return {name: array.reshape(*batch, *array.shape[1:]) for name, array in found.items()}


def shown(shape: Sequence[int]) -> str:
    """Spell a shape after its batch axes: ``(…, 4, 8)``."""
    return f"({', '.join(['…', *map(str, shape)])})"


def refuse_unknown(arrays: Arrays, known: Sequence[str], instruction: str) -> None:
    """Refuse arrays that are no operand.

    Raises
    ------
    InputError
        Naming the first.
    """
    for name in arrays:
        if name not in known:
            raise InputError(f"{instruction} has no operand {name!r}; known: {', '.join(known)}")


def required(arrays: Arrays, name: str, takes: str) -> Array:
    """Return an array that must be there.

    Raises
    ------
    InputError
        If it is not; `takes` says what the instruction takes.
    """
    if name not in arrays:
        raise InputError(f"{missing(arrays, name)}; {takes}")
    return arrays[name]


def missing(arrays: Arrays, name: str, why: str = "") -> str:
    """Say that an array is not there, and which are."""
    return f"{why}no array {name!r} (there are: {', '.join(arrays) or 'none'})"


def of_shape(name: str, array: Array, shape: Sequence[int]) -> Array:
    """Return an array whose last axes must be `shape`.

    Raises
    ------
    InputError
        If they are not.
    """
    if array.shape[max(0, array.ndim - len(shape)) :] != tuple(shape):
        raise InputError(f"{name} has shape {array.shape}; it must be {shown(shape)}, batch axes first")
    return array


def common_batch(operands: Arrays, axes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the batch axes that operands broadcast to; ``axes`` counts each operand's own.

    Raises
    ------
    InputError
        If they don't broadcast.
    """
    batches = {name: array.shape[: array.ndim - axes[name]] for name, array in operands.items()}
    if len(set(batches.values())) == 1:
        return next(iter(batches.values()))
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        shapes = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise InputError(f"the batch axes don't broadcast: {shapes}") from None


def blocks(count: int, length: int) -> Iterator[slice]:
    """Yield slices of at most `length` of `count` items."""
    for start in range(0, count, max(1, length)):
        yield slice(start, start + max(1, length))
