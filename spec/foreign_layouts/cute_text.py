"""Reads CuTe's layouts.

As they are printed (``((_4,_8),_2):((_16,_1),_8)``, ``Sw<3,4,3> o smem_ptr[16b](unset) o …``) and as C++
spells them (``using ALayout = Layout<Shape<_4,_8>, Stride<_16,_1>>;``, ``make_layout(…)``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ..errors import InputError
from .cute import Composed, CuteLayout, Swizzle, Tree, compact, leaves, spell
from .distribution import MAX_ELEMENTS

MAX_INTEGER = 1 << 31
"""The largest extent or step."""

MAX_SHIFT = 16
"""The largest number in a swizzle."""

_BYTE_BITS = 8
_MAX_DEPTH = 16
_MAX_LENGTH = 10_000

_POINTER = re.compile(r"smem_ptr\[(\d{1,4})b\]\([^()]*\)")
"""An address in CuTe's print; it says how wide elements are, and that the swizzle is one of bytes."""

_TOKEN = re.compile(
    r"\s*(?:(?P<integer>_?-?\d+)(?P<literal>[uUlL]*)|(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<mark>::|\{\}|[(),:<>∘-]))"
)
_TUPLES = frozenset({"Shape", "Stride", "Step", "Coord", "tuple", "make_shape", "make_stride", "make_tuple"})
_LAYOUTS = frozenset({"Layout", "make_layout"})
_CONSTANTS = frozenset({"Int", "C", "constant"})
_SWIZZLES = frozenset({"Swizzle", "Sw", "S"})
_CLOSING = {"(": ")", "<": ">"}


def parse_layout(text: str) -> CuteLayout:
    """Read a layout.

    Raises
    ------
    InputError
        If it is none, or is absurdly large.
    """
    return _Parser(_bare(text)).whole_layout()


def parse_composed(text: str) -> Composed:
    """Read a layout, perhaps with a swizzle before it: ``Swizzle<3,3,3> o (16,64):(64,1)``.

    ``smem_ptr[16b](unset)`` between the two makes the swizzle one of bytes, as CuTe means it.

    Raises
    ------
    InputError
        If it is none, or is absurdly large.
    """
    pointer = _POINTER.search(text)
    composed = _Parser(_POINTER.sub("0", text, count=1)).whole_composed()
    if pointer is None or composed.swizzle is None:
        return composed
    width = int(pointer[1])
    base = composed.swizzle.base + _BYTE_BITS.bit_length() - width.bit_length()
    if width & (width - 1) or base < 0:
        raise InputError(f"{composed.swizzle} of bytes does not keep elements of {width} bits together")
    return replace(composed, swizzle=replace(composed.swizzle, base=base))


def _bare(text: str) -> str:
    """Return what a C++ declaration declares, without comments."""
    without = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).strip().removesuffix(";").rstrip()
    return re.sub(r"\A(?:using|(?:constexpr\s+)?auto)\s+\w+\s*=\s*", "", without)


def is_cute(text: str) -> bool:
    """Whether a text looks like CuTe's notation rather than another."""
    text = _bare(text)
    return re.match(r"\s*(?:cute\s*::\s*)?(?:[(_\d]|Layout\b|make_layout\b|Sw|S<)", text) is not None


class _Parser:
    """Reads from left to right; every method raises `InputError` where it can't go on."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _MAX_LENGTH:
            raise InputError(f"a layout of {len(text)} characters is not read; {_MAX_LENGTH} are allowed")
        self.tokens = list(self._split())
        self.place = 0

    def _split(self) -> Iterator[tuple[str, int]]:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            if (match := _TOKEN.match(self.text, position)) is None:
                raise self._wrong(f"{self.text[position:].strip()[0]!r} is not of a layout", position)
            token = match["integer"] or match["word"] or match["mark"]
            if token not in ("::", "cute", "{}"):
                yield token, position
            position = match.end()

    def whole_layout(self) -> CuteLayout:
        layout = self._layout()
        self._end()
        return layout

    def whole_composed(self) -> Composed:
        swizzle, offset = None, 0
        if self._next() in _SWIZZLES:
            self.place += 1
            swizzle = self._swizzle()
            self._then()
        following = self.tokens[self.place + 1][0] if self.place + 1 < len(self.tokens) else ""
        if swizzle is not None and following in ("o", "∘"):
            offset = self._integer()
            self._then()
        layout = self._layout()
        self._end()
        return Composed(layout, offset, swizzle)

    def _then(self) -> None:
        if self._next() not in ("o", "∘"):
            raise self._wrong("expected 'o' and a layout", self._position())
        self.place += 1

    def _swizzle(self) -> Swizzle:
        position = self._position()
        self._take("<")
        numbers = [self._integer()]
        while self._next() == ",":
            self.place += 1
            numbers.append(self._integer())
        self._take(">")
        if len(numbers) != 3:
            raise self._wrong("a swizzle has three numbers, Swizzle<B,M,S>", position)
        bits, base, shift = numbers
        if not (0 <= bits <= abs(shift) <= MAX_SHIFT and 0 <= base <= MAX_SHIFT):
            needed = f"0 <= B <= |S| <= {MAX_SHIFT} and 0 <= M <= {MAX_SHIFT}"
            raise self._wrong(f"{Swizzle(bits, base, shift)} does not have {needed}", position)
        return Swizzle(bits, base, shift)

    def _layout(self) -> CuteLayout:
        opening = ""
        if self._next() in _LAYOUTS:
            self.place += 1
            opening = self._opening()
        shape = self._tree(0)
        separator = "," if opening else ":"
        stride = compact(shape)
        if self._next() == separator:
            self.place += 1
            stride = self._tree(0)
        if opening:
            self._take(_CLOSING[opening])
        _require_sensible(shape)
        return CuteLayout(shape, stride)

    def _tree(self, depth: int) -> Tree:
        if depth > _MAX_DEPTH:
            raise self._wrong(f"nested more than {_MAX_DEPTH} deep", self._position())
        word = self._next()
        if word in _TUPLES:
            self.place += 1
        elif word != "(":
            return self._integer()
        closing = _CLOSING[self._opening()]
        branches = [self._tree(depth + 1)]
        while self._next() == ",":
            self.place += 1
            branches.append(self._tree(depth + 1))
        self._take(closing)
        return tuple(branches)

    def _integer(self) -> int:
        position, word = self._position(), self._next()
        if word in _CONSTANTS:
            self.place += 1
            self._take("<")
            value = self._integer()
            self._take(">")
            if self._next() == "(":  # Int<4>()
                self.place += 1
                self._take(")")
            return value
        if word == "-":
            self.place += 1
            return -self._integer()
        digits = word.lstrip("_")
        if not digits.lstrip("-").isdecimal():
            raise self._wrong(f"expected an integer, not {word or 'the end'!r}", position)
        self.place += 1
        if len(digits.lstrip("-")) > len(str(MAX_INTEGER)) or abs(int(digits)) > MAX_INTEGER:
            raise self._wrong(f"{digits[:20]} is absurdly large; {MAX_INTEGER} is allowed", position)
        return int(digits)

    def _opening(self) -> str:
        if self._next() not in _CLOSING:
            raise self._wrong(f"expected '(' or '<', not {self._next() or 'the end'!r}", self._position())
        self.place += 1
        return self.tokens[self.place - 1][0]

    def _take(self, mark: str) -> None:
        if self._next() != mark:
            raise self._wrong(f"expected {mark!r}, not {self._next() or 'the end'!r}", self._position())
        self.place += 1

    def _end(self) -> None:
        if self.place < len(self.tokens):
            raise self._wrong(f"unexpected {self._next()!r}", self._position())

    def _next(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def _position(self) -> int:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else len(self.text)

    def _wrong(self, reason: str, position: int) -> InputError:
        return InputError(f"CuTe layout {self.text.strip()[:60]!r}: {reason} (character {position + 1})")


def _require_sensible(shape: Tree) -> None:
    """Refuse extents below 1, and more points than any operand has."""
    extents = leaves(shape)
    if min(extents) < 1:
        raise InputError(f"the shape {spell(shape)} has the extent {min(extents)}; extents are 1 or more")
    if (size := prod(extents)) > MAX_ELEMENTS:
        raise InputError(f"a layout of {size} elements is not looked at; {MAX_ELEMENTS} are allowed")
