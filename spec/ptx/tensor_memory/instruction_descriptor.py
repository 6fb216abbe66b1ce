"""The instruction descriptor of ``tcgen05.mma``: types, shape and scales, in 32 bits that ptxas never sees.

Source: PTX ISA 9.1 section 9.7.16 (instruction descriptor); CuTe's ``UMMA::InstrDescriptor``; the constants
of kernels that Triton compiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from ...errors import InputError
from .bit_fields import BitField, FieldTable, Value, flag, read_values, reserved
from .kinds import KINDS, Kind

_FLOATS = (("f16", 0), ("bf16", 1))
_NARROW = (("e4m3", 0), ("e5m2", 1), ("e2m3", 3), ("e3m2", 4), ("e2m1", 5))
_FACTORS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "f16": _FLOATS, "tf32": (("tf32", 2),), "f8f6f4": _NARROW, "i8": (("u8", 0), ("s8", 1)),
}  # fmt: skip
_SUMS = {"f16": 0, "f32": 1, "s32": 2}
_SHIFTS = ((0, 0), (8, 1), (16, 2), (32, 3))
_EVEN = ((0, 0), (2, 2))
_TRANSPOSED = (flag("transpose_a", 15), flag("transpose_b", 16))
_NEGATED = (flag("negate_a", 13), flag("negate_b", 14))
_N = BitField("n", 17, 6, unit=8)


@cache
def table(kind: str) -> FieldTable:
    """Return the fields of the descriptors of a kind."""
    name = f"instruction descriptor of kind::{kind}"
    return FieldTable(name, 32, tuple(_scaled(KINDS[kind]) if KINDS[kind].is_scaled else _plain(kind)))


def _plain(kind: str) -> Iterator[BitField]:
    integer, factors = kind == "i8", _FACTORS[kind]
    yield BitField("selector", 0, 2)
    yield flag("sparse", 2)
    yield flag("saturate", 3) if integer else reserved(3)
    yield BitField(
        "d", 4, 2, tuple((accumulator, _SUMS[accumulator]) for accumulator in KINDS[kind].accumulators)
    )
    yield reserved(6)
    yield BitField("a", 7, 3, factors)
    yield BitField("b", 10, 3, factors)
    yield from (reserved(13), reserved(14)) if integer else _NEGATED
    yield from _TRANSPOSED
    yield _N
    yield reserved(23)
    yield BitField("m", 24, 5, unit=16)
    yield reserved(29)
    yield BitField("max_shift", 30, 2, _SHIFTS)


def _scaled(kind: Kind) -> Iterator[BitField]:
    packed = kind.container == 4
    ids = _EVEN if packed else ()
    scale_codes = tuple((scale, int(scale == "ue8m0")) for scale in kind.scales)
    yield reserved(0, 2)
    yield flag("sparse", 2)
    yield reserved(3)
    yield BitField("scale_b_id", 4, 2, ids)
    yield reserved(6)
    if packed:
        yield BitField("a", 7, 3, (("e2m1", 1),))
        yield BitField("b", 10, 2, (("e2m1", 1),))
        yield reserved(12)
    else:
        yield BitField("a", 7, 3, _NARROW)
        yield BitField("b", 10, 3, _NARROW)
    yield from _NEGATED
    yield from (reserved(15), reserved(16)) if packed else _TRANSPOSED
    yield _N
    yield BitField("scale", 23, 1, scale_codes)
    yield reserved(24, 3)
    yield BitField("m", 27, 2, unit=128)
    yield BitField("scale_a_id", 29, 2, ids)
    yield flag("k96", 31) if packed else reserved(31)


@dataclass(frozen=True)
class InstructionDescriptor:
    """What a descriptor says.

    Attributes
    ----------
    kind : str
        The kind of the instruction that it is for.
    values : mapping of str to value
        Every field of the kind's table.
    """

    kind: str
    values: Mapping[str, Value] = field(hash=False)

    @property
    def encoding(self) -> int:
        """The 32 bits."""
        return table(self.kind).encoding(self.values)

    @classmethod
    def of(cls, kind: str, **values: Value) -> InstructionDescriptor:
        """Return the descriptor with these fields; others are 0, and types the first of the kind's.

        Raises
        ------
        InputError
            If the kind has no such field or value.
        """
        return cls.decoded(kind, table(kind).encoding(values))

    @classmethod
    def decoded(cls, kind: str, word: int) -> InstructionDescriptor:
        """Return what 32 bits say.

        Raises
        ------
        InputError
            If a field's code has no meaning, or a reserved bit is set.
        """
        return cls(kind, table(kind).decoded(word))

    @classmethod
    def read(cls, kind: str, text: str) -> InstructionDescriptor:
        """Read ``idesc=0x08200010``, or fields: ``m=128 n=256 a=bf16 b=bf16 d=f32``.

        Raises
        ------
        InputError
            If a word is no field, or a field can't have the value.
        """
        fields = read_values(text, ("idesc", *table(kind).named))
        if "idesc" not in fields:
            return cls.of(kind, **fields)
        if len(fields) > 1 or isinstance(fields["idesc"], str):
            raise InputError(f"idesc={fields['idesc']} must be a number, and stand alone")
        return cls.decoded(kind, fields["idesc"])

    def number(self, name: str) -> int:
        """Return a field that is a number; 0 where the kind has none of the name."""
        value = self.values.get(name, 0)
        assert isinstance(value, int)
        return value

    def named(self, name: str) -> str:
        """Return a field that is a type."""
        return str(self.values[name])

    @property
    def m(self) -> int:
        """Rows of D."""
        return self.number("m")

    @property
    def n(self) -> int:
        """Columns of D."""
        return self.number("n")

    @property
    def d(self) -> str:
        """Type of D."""
        return self.named("d") if "d" in self.values else "f32"

    def __str__(self) -> str:
        shown = (f"{name}={value}" for name, value in self.values.items() if value != 0)
        return f"{self.encoding:#010x} ({' '.join(shown)})"
