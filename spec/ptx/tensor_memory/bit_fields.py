"""Words whose fields have codes or numbers, as tables: the two descriptors of ``tcgen05.mma``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...errors import InputError

Value = int | str
"""What a field says: a number, or the name of a code."""


@dataclass(frozen=True)
class BitField:
    """Some neighbouring bits of a word.

    Attributes
    ----------
    name : str
        What they say; empty where they must have the one code that there is.
    low, width : int
        The lowest bit, and how many.
    codes : tuple of (value, int)
        What a code means; none where the bits are a number.
    unit : int
        What a number counts.
    """

    name: str
    low: int
    width: int = 1
    codes: tuple[tuple[Value, int], ...] = ()
    unit: int = 1

    @property
    def bits(self) -> str:
        """Where they are: ``22..17``."""
        return f"{self.low + self.width - 1}..{self.low}" if self.width > 1 else str(self.low)

    @cached_property
    def _by_code(self) -> Mapping[int, Value]:
        return {code: value for value, code in self.codes}

    @property
    def values(self) -> str:
        """What may be said, in words."""
        if not self.codes:
            step = f" by {self.unit}" if self.unit > 1 else ""
            return f"0 to {((1 << self.width) - 1) * self.unit}{step}"
        if not self.name:
            return f"{self.codes[0][1]:0{self.width}b}"
        return ", ".join(f"{value}: {code}" for value, code in self.codes)

    def raw(self, word: int) -> int:
        """Return the bits of a word."""
        return word >> self.low & (1 << self.width) - 1

    def means(self, word: int) -> Value | None:
        """Return what a word says, None where the code has no meaning."""
        code = self.raw(word)
        return self._by_code.get(code) if self.codes else code * self.unit

    def code(self, value: Value) -> int:
        """Return the bits that say a value, in their place.

        Raises
        ------
        InputError
            If none do.
        """
        if self.codes:
            found = dict(self.codes).get(value)
        else:
            number, rest = divmod(value, self.unit) if isinstance(value, int) else (-1, 1)
            found = number if not rest and 0 <= number < 1 << self.width else None
        if found is None:
            raise InputError(f"{self.name} can't be {value}; there are {self.values}")
        return found << self.low


def reserved(low: int, width: int = 1, code: int = 0) -> BitField:
    """Return bits that must have one code."""
    return BitField("", low, width, ((0, code),))


def flag(name: str, low: int) -> BitField:
    """Return a bit that is 0 or 1."""
    return BitField(name, low)


@dataclass(frozen=True)
class FieldTable:
    """The fields of a word.

    Attributes
    ----------
    name : str
        What the word is.
    bits : int
        Its width.
    fields : tuple of BitField
        From the lowest bit on; together they are all bits.
    """

    name: str
    bits: int
    fields: tuple[BitField, ...]

    @cached_property
    def named(self) -> Mapping[str, BitField]:
        """The fields that say something, by name."""
        return {field.name: field for field in self.fields if field.name}

    def encoding(self, values: Mapping[str, Value]) -> int:
        """Return the word that says values; fields that are not named say 0, or their first code.

        Raises
        ------
        InputError
            If there is no such field, or it has no code for a value.
        """
        if unknown := [name for name in values if name not in self.named]:
            raise InputError(f"{self.name} has no {unknown[0]}; it has {', '.join(self.named)}")
        return sum(
            field.code(values.get(field.name, field.codes[0][0] if field.codes else 0))
            for field in self.fields
        )

    def decoded(self, word: int) -> dict[str, Value]:
        """Return what the fields say.

        Raises
        ------
        InputError
            If a code has no meaning.
        """
        if wrong := next(self.defects(word), None):
            raise InputError(f"{self.name} {word:#0{self.bits // 4 + 2}x}: {wrong}")
        found = {name: field.means(word) for name, field in self.named.items()}
        return {name: value for name, value in found.items() if value is not None}

    def defects(self, word: int) -> Iterator[str]:
        """Yield what has no meaning: bits beyond the word, codes, and bits that must be others."""
        if not 0 <= word < 1 << self.bits:
            yield f"it has {self.bits} bits"
        for field in self.fields:
            if field.means(word) is None:
                what = f"{field.name}, bits {field.bits}," if field.name else f"bits {field.bits}"
                yield f"{what} can't be {field.raw(word):0{field.width}b}; there are {field.values}"

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield a row for each field."""
        for field in self.fields:
            yield {"word": self.name, "bits": field.bits, "field": field.name, "values": field.values}


def read_values(text: str, known: Iterable[str]) -> dict[str, Value]:
    """Read ``m=128 n=256 a=bf16``: numbers where they are numbers.

    Raises
    ------
    InputError
        If a word is no ``name=value`` with one of the known names, or a name comes twice.
    """
    names = tuple(known)
    found: dict[str, Value] = {}
    for word in text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if not equals or name not in names or not value:
            raise InputError(f"{word[:40]!r} is no field; there are {', '.join(f'{n}=' for n in names)}")
        if name in found:
            raise InputError(f"{name} is given twice")
        try:
            found[name] = int(value, 0)
        except ValueError:
            found[name] = value
    return found
