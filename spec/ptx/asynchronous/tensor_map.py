"""A tensor map as a value: a tensor in global memory, and the box of it that a tensor copy moves.

The 128 bytes of a map are opaque; what it says are the parameters of the driver's call that encodes it.
Dimension 0 is the one whose elements are neighbours in memory. Source: the CUDA driver API,
cuTensorMapEncodeTiled; PTX ISA 9.1 sections 5.5 (tensors) and 9.7.9.25. That the copy engine keeps the
bytes of elements is documented for types without ``tf32`` and ``.ftz`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import MappingProxyType

from ... import legality
from ...errors import InputError, UnsupportedError
from ...formats import FORMATS, Format, IntegerFormat, format_named
from ...layout import Axis, Digit, Layout
from ...legality import Violation
from ..matrix_descriptor import UNIT

ELEMENTS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16")},
        "f32.ftz": "f32",
        "tf32": "tf32",
        "tf32.ftz": "tf32",
    }
)
"""Types of elements, with the formats of their encodings."""

CONVERTED = ("f32.ftz", "tf32", "tf32.ftz")
"""Types whose elements the copy engine may change; how is not documented."""

SWIZZLES = (0, 32, 64, 128)
INTERLEAVES = (0, 16, 32)
FILLS = ("zeros", "nan")

MOST_RANK, MOST_SIZE, MOST_BOX, MOST_STEP, STRIDE_LIMIT = 5, 1 << 32, 256, 8, 1 << 40

MAP_BYTES, MAP_ALIGNMENT = 128, 64
"""Size and alignment of the map itself."""

COPY_ALIGNMENT = 128
"""Alignment of a box in shared memory; with a swizzle the pattern begins at multiples of 8 of its rows."""


@dataclass(frozen=True)
class TensorMap:
    """What a tensor copy knows of a tensor.

    Attributes
    ----------
    element : str
        Type of the elements: ``f16``, ``u8``, …
    sizes : tuple of int
        Elements along each dimension, neighbours in memory first.
    strides : tuple of int
        Bytes from one element to the next along dimensions 1, 2, …
    box : tuple of int
        Elements along each dimension that one copy traverses.
    steps : tuple of int
        Element strides: every how many of them it copies; empty for 1 along all dimensions.
    swizzle : int
        Bytes of a swizzled row: 32, 64 or 128; 0 for none.
    interleave : int
        Bytes of an interleaved group of channels: 16 or 32; 0 for none.
    fill : str
        What stands for elements outside: ``zeros`` or ``nan``.
    address : int
        Where the tensor begins in global memory.
    """

    element: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    swizzle: int = 0
    interleave: int = 0
    fill: str = "zeros"
    address: int = 0

    def __str__(self) -> str:
        box = "x".join(map(str, self.box))
        return f"tensor of {self.element} {'x'.join(map(str, self.sizes))}, box {box}, swizzle {self.swizzle}"

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.sizes)

    @property
    def format(self) -> Format:
        """Format of the elements' encodings."""
        return format_named(ELEMENTS[self.element])

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return self.format.bits // 8

    @cached_property
    def every(self) -> tuple[int, ...]:
        """Every how many elements are copied along each dimension; without interleave all of the first."""
        steps = self.steps or (1,) * self.rank
        return steps if self.interleave else (1, *steps[1:])

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Elements that are copied along each dimension."""
        return tuple(-(-box // step) for box, step in zip(self.box, self.every, strict=True))

    @property
    def box_bytes(self) -> int:
        """Bytes in shared memory, which a load completes on its barrier, inside of the tensor or not."""
        return prod(self.extents) * self.element_bytes

    @cached_property
    def order(self) -> Layout:
        """(i0, i1, …) of the box ↔ the number of its element in shared memory, before swizzling.

        Raises
        ------
        UnsupportedError
            Of maps for which no document says how boxes lie.
        """
        if self.interleave:
            raise UnsupportedError(
                f"{self}: where the elements of interleaved boxes lie is not specified here"
            )
        row = self.box[0] * self.element_bytes
        if self.swizzle and row != self.swizzle:
            raise UnsupportedError(
                f"{self}: no document says where rows of {row} bytes lie that are swizzled by {self.swizzle}"
            )
        axes = tuple(Axis(f"i{place}", extent) for place, extent in enumerate(self.extents))
        target = (Axis("element", prod(self.extents)),)
        digits = [
            Digit(place, 1, extent, (prod(self.extents[:place]),))
            for place, extent in enumerate(self.extents)
            if extent > 1
        ]
        return Layout(f"box of {self}", axes, target, tuple(digits), carries=True)

    @property
    def alignment(self) -> int:
        """Bytes of which the address of a box is a multiple if its first row is the first of a pattern."""
        return max(COPY_ALIGNMENT, 8 * self.swizzle)


# -- constraints
Rule = legality.Rule[TensorMap, None]
_Check = Callable[[TensorMap], Iterator[str]]


def _per_dimension(tensor: TensorMap) -> Iterator[str]:
    if not (3 if tensor.interleave else 1) <= tensor.rank <= MOST_RANK:
        least = "3 with interleave" if tensor.interleave else "1"
        yield f"the rank is from {least} to {MOST_RANK}, not {tensor.rank}"
    given = {"strides": (tensor.strides, 1), "box": (tensor.box, 0), "steps": (tensor.steps, 0)}
    for name, (numbers, fewer) in given.items():
        if len(numbers) != tensor.rank - fewer and not (name == "steps" and not numbers):
            yield f"{name} has {tensor.rank - fewer} numbers at rank {tensor.rank}, not {len(numbers)}"


def _known_values(tensor: TensorMap) -> Iterator[str]:
    for name, value, known in (
        ("element", tensor.element, tuple(ELEMENTS)),
        ("swizzle", tensor.swizzle, SWIZZLES),
        ("interleave", tensor.interleave, INTERLEAVES),
        ("fill", tensor.fill, FILLS),
    ):
        if value not in known:
            yield f"{name} must be one of {', '.join(map(str, known))}, not {value}"


def _alignment(tensor: TensorMap) -> int:
    return 32 if tensor.interleave == 32 else UNIT


def _address(tensor: TensorMap) -> Iterator[str]:
    if tensor.address < 0 or tensor.address % _alignment(tensor):
        yield f"the address must be a multiple of {_alignment(tensor)}, not {tensor.address:#x}"


def _sizes(tensor: TensorMap) -> Iterator[str]:
    for place, size in enumerate(tensor.sizes):
        if not 1 <= size <= MOST_SIZE:
            yield f"dimension {place} has 1 to 2^32 elements, not {size}"


def _strides(tensor: TensorMap) -> Iterator[str]:
    for place, stride in enumerate(tensor.strides):
        if not 0 <= stride < STRIDE_LIMIT or stride % _alignment(tensor):
            unit = _alignment(tensor)
            yield f"the stride of dimension {place + 1} is a multiple of {unit} below 2^40, not {stride}"


def _boxes(tensor: TensorMap) -> Iterator[str]:
    for place, extent in enumerate(tensor.box):
        if not 1 <= extent <= MOST_BOX:
            yield f"the box has 1 to {MOST_BOX} elements along dimension {place}, not {extent}"


def _row(tensor: TensorMap) -> Iterator[str]:
    if tensor.element not in ELEMENTS or not tensor.box:
        return
    row = tensor.box[0] * tensor.element_bytes
    if row % UNIT and not tensor.interleave:
        yield f"a row of the box has a multiple of {UNIT} bytes, not {row}"
    if tensor.swizzle in SWIZZLES[1:] and row > tensor.swizzle:
        yield f"a row of the box has at most the {tensor.swizzle} bytes of the swizzle, not {row}"


def _steps(tensor: TensorMap) -> Iterator[str]:
    for place, step in enumerate(tensor.steps):
        if not 1 <= step <= MOST_STEP:
            yield f"the element stride of dimension {place} is from 1 to {MOST_STEP}, not {step}"


def _interleave(tensor: TensorMap) -> Iterator[str]:
    if tensor.interleave == 32 and tensor.swizzle != 32:
        yield f"an interleave of 32 bytes needs a swizzle of 32 bytes, not {tensor.swizzle}"


def _fill(tensor: TensorMap) -> Iterator[str]:
    known = FORMATS.get(ELEMENTS.get(tensor.element, ""))
    if tensor.fill == "nan" and isinstance(known, IntegerFormat):
        yield f"only floats are filled with NaN, not {tensor.element}"


_SOURCE = "CUDA driver API, cuTensorMapEncodeTiled; PTX ISA 9.1 section 5.5"


def _rule(name: str, reason: str, check: _Check) -> Rule:
    return Rule(name, reason, _SOURCE, lambda tensor, _: check(tensor))


TENSOR_MAP_RULES: tuple[Rule, ...] = (
    _rule("map-rank", "there are 1 to 5 dimensions, 3 or more with interleave", _per_dimension),
    _rule("map-value", "type, swizzle, interleave and fill are known ones", _known_values),
    _rule("map-address", "the tensor begins at a multiple of 16 bytes, of 32 with interleave 32", _address),
    _rule("map-size", "each dimension has 1 to 2^32 elements", _sizes),
    _rule("map-stride", "strides are multiples of 16 bytes below 2^40, of 32 with interleave 32", _strides),
    _rule("map-box", "the box has 1 to 256 elements along each dimension", _boxes),
    _rule("map-row", "a row of the box is a multiple of 16 bytes, and no longer than the swizzle", _row),
    _rule("map-step", "element strides are from 1 to 8", _steps),
    _rule("map-interleave", "an interleave of 32 bytes goes with a swizzle of 32 bytes", _interleave),
    _rule("map-fill", "only floats are filled with NaN", _fill),
)
"""What every tensor map meets."""


def violations(tensor: TensorMap) -> list[Violation]:
    """Return every rule that a tensor map violates; an empty list means that there is such a map."""
    return legality.violations(TENSOR_MAP_RULES, tensor, None)


def require_legal(tensor: TensorMap) -> TensorMap:
    """Return a tensor map that meets the rules.

    Raises
    ------
    InputError
        If it violates one.
    """
    if wrong := violations(tensor):
        raise InputError(f"{tensor}: {'; '.join(map(str, wrong))}")
    return tensor


def read_tensor_map(text: str) -> TensorMap:
    """Read ``element=f16 sizes=256x512 strides=1024 box=64x128 swizzle=128``; sizes default to the box.

    Raises
    ------
    InputError
        If a word is no field of a map, or the map violates a rule.
    """
    fields: dict[str, str] = {}
    for word in text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if not equals or name not in _FIELDS or name in fields:
            known = ", ".join(f"{field}=…" for field in _FIELDS)
            raise InputError(f"{word[:40]!r} is no field of a tensor map, or the second; there are {known}")
        fields[name] = value
    if "box" not in fields:
        raise InputError("a tensor map has a box, such as box=64x128")
    numbers = {name: _numbers(name, fields[name]) for name in _LISTS if name in fields}
    element = fields.get("element", "f16")
    if element not in ELEMENTS:
        raise InputError(f"element must be one of {', '.join(ELEMENTS)}, not {element[:40]}")
    sizes = numbers.get("sizes", numbers["box"])
    size = format_named(ELEMENTS[element]).bits // 8
    packed = tuple(-(-prod(sizes[:place]) * size // UNIT) * UNIT for place in range(1, len(sizes)))
    single = {
        name: _numbers(name, fields[name])[0]
        for name in ("swizzle", "interleave", "address")
        if name in fields
    }
    return require_legal(
        TensorMap(
            element, sizes, numbers.get("strides", packed), numbers["box"], numbers.get("steps", ()),
            fill=fields.get("fill", "zeros"), **single,
        )
    )  # fmt: skip


_LISTS = ("sizes", "strides", "box", "steps")
_FIELDS = ("element", *_LISTS, "swizzle", "interleave", "fill", "address")


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        return (
            tuple(int(part, 0) for part in text.split("x") if part)
            if not text.startswith("0x")
            else (int(text, 0),)
        )
    except ValueError:
        raise InputError(f"{name}={text[:40]} is no number, nor several with x between them") from None
