"""Layouts as Triton's dumps name them: ``#ttg.nvidia_mma<{…}>``, ``#ttg.dot_op<{…}>``, ``#ttg.blocked<{…}>``.

Each is turned into the linear layout that it stands for, of one tile of the instruction and the warps beside.

Source: Triton 3.9, ``lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp`` (``nvidiaMmaTile``,
``nvidiaDotToLinearLayout``, ``BlockedEncodingAttr::toLinearLayout``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..errors import InputError
from ..layout_terms import log2
from .linear import LinearLayout

_ROWS, _COLUMNS = 8, 4
"""Lanes of a warp down and along a tile of the tensor cores."""

_PARAMETERS = {
    "nvidia_mma": ("versionMajor", "versionMinor", "warpsPerCTA", "instrShape"),
    "dot_op": ("opIdx", "parent", "kWidth"),
    "blocked": ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"),
}
"""The parameters of attributes that are read; any other one may say that elements lie elsewhere."""

_OF_CLUSTERS = ("CTAsPerCGA", "CTASplitNum")
"""Lists of ones, where a block has no others beside it; the order of these then makes no difference."""

_ORDER = "CTAOrder"

_KINDS = tuple(_PARAMETERS)
_DEFINITION = re.compile(r"\s*#(\w+)\s*=\s*")
_NAMED = re.compile(r"\s*#(?:ttg\.|triton_gpu\.)?(\w+)\s*(<\s*\{)?")
_KEY = re.compile(r"\s*(\w+)\s*=\s*")
_NUMBERS = re.compile(r"\s*\[((?:\s*\d{1,9}\s*,)*\s*(?:\d{1,9}\s*)?)\]", re.ASCII)
_WORD = re.compile(r"\s*(true|false|\d{1,9})\b", re.ASCII)
_END = re.compile(r"\s*\}\s*>")

_MOST_BITS = 20
"""Bits of the numbers of holders: more than any block of threads has registers."""


@dataclass(frozen=True)
class _Attribute:
    """An attribute: its kind, and its parameters."""

    kind: str
    parameters: Mapping[str, Any]

    def numbers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """Return a parameter that is a list of powers of two, or of places."""
        value = self.parameters.get(name, default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, int) for each in value):
            raise InputError(f"#ttg.{self.kind} needs {name} = [...]")
        return list(value)

    def number(self, name: str) -> int:
        """Return a parameter that is a number."""
        value = self.parameters.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"#ttg.{self.kind} needs {name} = a number")
        return value


def is_attribute(text: str) -> bool:
    """Whether a text looks like one of these attributes."""
    return re.search(rf"#(?:ttg\.|triton_gpu\.)({'|'.join(_KINDS)})\s*<", text) is not None


def parse_attribute(text: str) -> LinearLayout:
    """Return the linear layout of an attribute, behind the definitions of those that it names.

    Parameters
    ----------
    text : str
        ``#mma = #ttg.nvidia_mma<{…}>`` lines, then an attribute; or such a line alone.

    Raises
    ------
    InputError
        If it can't be read, or stands for no layout of registers.
    """
    reader = _Reader(text)
    attribute = reader.read()
    layouts: dict[str, Callable[[_Attribute], LinearLayout]] = {
        "nvidia_mma": _of_accumulator,
        "dot_op": _of_operand,
        "blocked": _of_blocks,
    }
    if attribute.kind not in layouts:
        raise InputError(f"#ttg.{attribute.kind} is no layout that is read; {', '.join(_KINDS)} are")
    return layouts[attribute.kind](attribute)


@dataclass
class _Reader:
    """Reads attributes from a text, and remembers those that are named."""

    text: str
    position: int = 0
    named: dict[str, _Attribute] = field(default_factory=dict)

    def read(self) -> _Attribute:
        """Return the last attribute of the text."""
        last: _Attribute | None = None
        while self.text[self.position :].strip():
            definition = self._matched(_DEFINITION)
            last = self._attribute()
            if definition is not None:
                self.named[definition[1]] = last
        if last is None:
            raise self._error("an attribute")
        return last

    def _attribute(self) -> _Attribute:
        start = self._matched(_NAMED)
        if start is None:
            raise self._error("an attribute such as #ttg.nvidia_mma<{...}>")
        if start[2] is None:
            if start[1] not in self.named:
                raise InputError(f"#{start[1]} is not defined; give its line, #{start[1]} = ..., in front")
            return self.named[start[1]]
        parameters: dict[str, Any] = {}
        while self._matched(_END) is None:
            key = self._matched(_KEY)
            if key is None:
                raise self._error("a parameter")
            parameters[key[1]] = self._value()
            self._matched(re.compile(r"\s*,"))
        self._check_known(start[1], parameters)
        return _Attribute(start[1], MappingProxyType(parameters))

    def _check_known(self, kind: str, parameters: Mapping[str, Any]) -> None:
        for name, value in parameters.items():
            if kind not in _KINDS or name in (*_PARAMETERS[kind], _ORDER):
                continue
            if name not in _OF_CLUSTERS:
                known = ", ".join(_PARAMETERS[kind])
                raise InputError(f"#ttg.{kind} with {name} is not read; {known} are")
            if not isinstance(value, list) or any(each != 1 for each in value):
                raise InputError(f"{name} = {value}: layouts are read of one block, of which all are 1")

    def _value(self) -> Any:
        if (numbers := self._matched(_NUMBERS)) is not None:
            return [int(each) for each in numbers[1].split(",") if each.strip()]
        if (word := self._matched(_WORD)) is not None:
            return word[1] == "true" if word[1] in ("true", "false") else int(word[1])
        return self._attribute()

    def _matched(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def _error(self, wanted: str) -> InputError:
        return InputError(f"{self.text[self.position :].strip()[:40]!r}: {wanted} is expected")


Vectors = list[tuple[int, ...]]


class _Builder:
    """Puts bits of holders one behind the other, each along a coordinate."""

    def __init__(self, rank: int) -> None:
        self.extents = [1] * rank
        self.bases: dict[str, Vectors] = {"register": [], "lane": [], "warp": []}

    def along(self, holder: str, axis: int, count: int, *, told_apart: bool = True) -> None:
        """Add as many of a holder along an axis; none is told apart where all hold the same."""
        if count < 1 or count & (count - 1):
            raise InputError(f"{count} {holder}s along coordinate {axis}: powers of two are expected")
        if sum(map(len, self.bases.values())) + log2(count) > _MOST_BITS:
            raise InputError(f"{count} {holder}s along coordinate {axis}: more than 2^{_MOST_BITS} elements")
        for _ in range(log2(count)):
            step = self.extents[axis] if told_apart else 0
            self.bases[holder].append(
                tuple(step if place == axis else 0 for place in range(len(self.extents)))
            )
            self.extents[axis] *= 2 if told_apart else 1

    def layout(self) -> LinearLayout:
        """Return what was put together."""
        return LinearLayout({holder: tuple(vectors) for holder, vectors in self.bases.items()})


def _tile(builder: _Builder, shape: Sequence[int], width: int, inner: int) -> None:
    """Add a tile of the tensor cores: so many registers, then lanes, then more registers."""
    outer = 1 - inner
    builder.along("register", inner, width)
    builder.along("lane", inner, _COLUMNS)
    builder.along("lane", outer, _ROWS)
    for axis, done in ((outer, _ROWS), (inner, width * _COLUMNS)):
        if shape[axis] % done:
            raise InputError(f"{shape[axis]} elements along coordinate {axis} are no multiple of {done}")
        builder.along("register", axis, shape[axis] // done)


def _warps(builder: _Builder, mma: _Attribute, shared_along: int | None = None) -> None:
    """Add the warps of a block, which hold the same along an axis."""
    counts = mma.numbers("warpsPerCTA")
    order = (0, 1) if mma.number("versionMajor") == _HOPPER else (1, 0)
    if len(counts) != len(order):
        raise InputError(f"warpsPerCTA = {counts}: {len(order)} numbers are expected")
    for axis in order:
        builder.along("warp", axis, counts[axis], told_apart=axis != shared_along)


_AMPERE, _HOPPER = 2, 3
"""The versions of tensor cores by which Triton tells ``mma`` and ``wgmma``."""


def _checked(mma: _Attribute) -> list[int]:
    version, shape = mma.number("versionMajor"), mma.numbers("instrShape")
    if version not in (_AMPERE, _HOPPER) or len(shape) < 2:
        raise InputError(
            f"#ttg.nvidia_mma of version {version} with instrShape = {shape}: versions {_AMPERE} and "
            f"{_HOPPER} with [M, N] or [M, N, K] are read"
        )
    return shape


def _of_accumulator(mma: _Attribute) -> LinearLayout:
    shape, builder = _checked(mma), _Builder(2)
    _tile(builder, shape[:2], 2, inner=1)
    _warps(builder, mma)
    return builder.layout()


def _of_operand(dot: _Attribute) -> LinearLayout:
    parent, index, width = dot.parameters.get("parent"), dot.number("opIdx"), dot.number("kWidth")
    if not isinstance(parent, _Attribute) or parent.kind != "nvidia_mma" or index not in (0, 1):
        raise InputError("#ttg.dot_op is read with opIdx = 0 or 1 and parent = #ttg.nvidia_mma<{...}>")
    _checked(parent)
    builder, depth, along_k = _Builder(2), 2 * width * _COLUMNS, 1 - index
    shape = (16, depth) if index == 0 else (depth, 8)
    _tile(builder, shape, width, inner=along_k)
    _warps(builder, parent, shared_along=along_k)
    return builder.layout()


def _of_blocks(blocked: _Attribute) -> LinearLayout:
    order = blocked.numbers("order")
    builder = _Builder(len(order))
    if sorted(order) != list(range(len(order))):
        raise InputError(f"order = {order}: each of {list(range(len(order)))} once is expected")
    for holder, name in (("register", "sizePerThread"), ("lane", "threadsPerWarp"), ("warp", "warpsPerCTA")):
        counts = blocked.numbers(name)
        if len(counts) != len(order):
            raise InputError(f"{name} = {counts}: {len(order)} numbers are expected")
        for axis in order:
            builder.along(holder, axis, counts[axis])
    return builder.layout()
