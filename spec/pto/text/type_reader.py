"""Reading a type: ``!pto.tile_buf<loc=left, …>`` to `TileType`, any other to `OtherType`.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache, partial
from typing import NoReturn, TypeVar

from ...errors import InputError
from ..element_types import ElementType, element_type_named
from ..tile import DYNAMIC, FRACTAL_BYTES, Compact, Extent, Location, Order, Pad
from .types import (
    COMPACT_KEYS,
    FRACTAL_NAMES,
    KEYS,
    PAGE_ORDERS,
    PAGE_PADS,
    OtherType,
    Spelling,
    TileType,
    Type,
)

_OLD = "an old dump, which ptoas no longer reads either"
_MOST_DIGITS = 9
_PARAMETRIC = re.compile(r"\s*(?P<name>[!\w.$]*)\s*<(?P<inside>.*)>\s*", re.DOTALL | re.ASCII)
_SHAPE = re.compile(r"((?:(?:\d+|\?)\s*x\s*)+)([A-Za-z_]\w*)", re.ASCII)
_EXTENTS = re.compile(r"(-1|\?|\d+)\s*x\s*(-1|\?|\d+)", re.ASCII)
_ITEM = re.compile(r"\s*(?:(?P<key>[A-Za-z_]\w*)\s*=\s*)?(?P<value>.*?)\s*", re.DOTALL | re.ASCII)

_T = TypeVar("_T")
_E = TypeVar("_E", bound=Enum)


class TypeTextError(InputError):
    """A type that can't be read; ``offset`` says how many characters into its text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class _Item:
    """One of the parameters between commas."""

    def __init__(self, text: str, offset: int) -> None:
        found = _ITEM.fullmatch(text)
        assert found is not None
        self.key: str | None = found["key"]
        self.value: str = found["value"]
        self.start = offset + (found.start("value") if self.key is None else found.start("key"))
        self.text = text.strip()

    def fail(self, expected: str) -> NoReturn:
        found = repr(" ".join(self.text.split())[:60]) if self.text else "nothing"
        raise TypeTextError(f"expected {expected}, found {found}", self.start)


class UnknownElementError(TypeTextError):
    """A tile type like any other but for its elements."""


@lru_cache(maxsize=4096)
def read_type(text: str) -> Type:
    """Read a type.

    Raises
    ------
    TypeTextError
        If it is a tile type that no spelling explains.
    """
    found = _PARAMETRIC.fullmatch(text)
    name, inside = (found["name"], found["inside"]) if found else (text.strip(), None)
    if name == "!pto.tile_view":
        raise TypeTextError(
            f"'!pto.tile_view' is from {_OLD}; expected '!pto.partition_tensor_view<RxCxT>'", 0
        )
    if found is None or inside is None:
        return OtherType(text.strip())
    items = [_Item(piece, found.start("inside") + at) for at, piece in split(inside)]
    if name in ("!pto.tile", "!pto.tile_buf"):
        return _tile(name, items)
    if not name:
        return _shortened(text, items)
    element, extents = _view(name, items[0].text)
    return OtherType(normalised(text), element, extents)


def normalised(text: str) -> str:
    """Return text with its blanks reduced to those that matter to a reader."""
    return re.sub(r"(?<=[<(\[])\s+|\s+(?=[>)\],])", "", " ".join(text.split()))


def split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces between the commas outside of brackets, and where each begins."""
    depth = start = 0
    for at, character in enumerate(text):
        if character in "<([{":
            depth += 1
        elif character in ">)]}" and text[at - 1 : at + 1] != "->":
            depth -= 1
        elif character == "," and depth == 0:
            yield start, text[start:at]
            start = at + 1
    yield start, text[start:]


def _shortened(text: str, items: Sequence[_Item]) -> Type:
    """Read a type whose name MLIR has left out."""
    if any(item.key in ("memory_space", "config") for item in items):
        raise TypeTextError(f"'memory_space' and 'config' are from {_OLD}; expected '<loc=L, …>'", 0)
    if items[0].key == "loc" or (items[0].key is None and items[0].value in tuple(Location)):
        return _tile("!pto.tile_buf", items)
    element, extents = _view("", items[0].text)
    return OtherType(normalised(text), element, extents)


def _view(name: str, first: str) -> tuple[ElementType | None, tuple[Extent, ...]]:
    """Return the element type and the extents of a tensor view or a pointer."""
    shape = _SHAPE.fullmatch(first)
    try:
        element = element_type_named(shape[2] if shape else first)
    except InputError:
        return None, ()
    if shape is None:
        return element, ()
    numbers = re.findall(r"\d+|\?", shape[1])
    if any(len(number) > _MOST_DIGITS for number in numbers):
        return None, ()
    extents: tuple[Extent, ...] = tuple(DYNAMIC if number == "?" else int(number) for number in numbers)
    if name == "!pto.tensor_view" and len(extents) == 1 and isinstance(extents[0], int) and extents[0] <= 5:
        extents = (DYNAMIC,) * extents[0]  # the rank form, <2xf32>
    return element, extents


def _tile(name: str, items: Sequence[_Item]) -> TileType:
    first = items[0]
    if [item.text for item in items] == ["..."]:
        return TileType(Spelling.OPAQUE)
    if any(item.key in ("memory_space", "config") for item in items):
        raise TypeTextError(f"'memory_space' and 'config' are from {_OLD}; expected '{name}<loc=L, …>'", 0)
    if first.key == "loc" and len(items) > 1 and items[1].key is not None:
        return _keyed(items)
    if first.key is None and first.value in tuple(Location):
        return _compact(items)
    if first.key is None and len(items) == 1:
        element, rows, columns = _shape(first)
        return TileType(Spelling.SHAPE, element=element, rows=rows, columns=columns)
    return _page(items)


def _keyed(items: Sequence[_Item]) -> TileType:
    keys = tuple(KEYS)
    for item, key in zip(items, keys, strict=False):
        if item.key != key:
            if item.key == "blayout" and key == "v_row":
                raise TypeTextError(
                    f"expected 'v_row=', found 'blayout=': keys in this order are from {_OLD}", item.start
                )
            item.fail(f"'{key}=' (the keys stand in the order {', '.join(keys)})")
    fields = {KEYS[key]: _READERS[key](item) for item, key in zip(items, keys, strict=False)}
    if len(items) > len(keys):
        items[len(keys)].fail("'>'")
    if len(items) < len(keys) - 1:
        raise TypeTextError(f"expected '{keys[len(items)]}=', found '>'", items[-1].start)
    return TileType(Spelling.KEYED, **fields)  # type: ignore[arg-type]


def _compact(items: Sequence[_Item]) -> TileType:
    if len(items) < 2:
        items[0].fail("a location and an extent, such as 'left, 32x64xf16'")
    location = _named(Location, items[0])
    element, rows, columns = _shape(items[1])
    fields: dict[str, object] = {}
    seen = set()
    for item in items[2:]:
        if item.key != "valid" and item.key not in COMPACT_KEYS:
            item.fail(f"one of {', '.join(f'{key}=' for key in ('valid', *COMPACT_KEYS))}")
        if item.key in seen:
            raise TypeTextError(f"'{item.key}=' is repeated; expected each key once", item.start)
        seen.add(item.key)
        if item.key == "valid":
            extents = _EXTENTS.fullmatch(item.value)
            if extents is None:
                item.fail("'valid=RxC', each a number or '?'")
            fields["valid_rows"] = _extent(item, extents[1])
            fields["valid_columns"] = _extent(item, extents[2])
        else:
            fields[KEYS[item.key]] = _READERS[item.key](item)
    return TileType(Spelling.COMPACT, location, element, rows, columns, **fields)  # type: ignore[arg-type]


def _page(items: Sequence[_Item]) -> TileType:
    location = _named(Location, items[0]) if items[0].key == "loc" else None
    rest = items[1:] if items[0].key == "loc" else items
    for item in rest:
        if item.key is not None:
            item.fail("a value without a key")
    if len(rest) not in (3, 7):
        items[-1].fail(
            "'T, R, C' or 'T, R, C, BLayout, SLayout, fractal, pad' behind an optional 'loc=L', "
            "or '...', or 'RxCxT', or 'L, RxCxT, key=value, …', or 'loc=L, dtype=T, …'"
        )
    element, rows, columns = _element(rest[0]), _number(rest[1]), _number(rest[2])
    if len(rest) == 3:
        return TileType(Spelling.PAGE, location, element, rows, columns)
    orders = {spelling.lower(): order for order, spelling in PAGE_ORDERS.items()}
    blocks = {name: order for name, order in orders.items() if order is not Order.NONE_BOX}
    return TileType(
        Spelling.PAGE, location, element, rows, columns,
        blocks=_chosen(rest[3], blocks, rest[3].value.lower().replace("_", "")),
        inner=_chosen(rest[4], orders, rest[4].value.lower().replace("_", "")),
        fractal_name=_chosen(rest[5], {name: name for name in FRACTAL_NAMES}, rest[5].value),
        pad=_chosen(rest[6], PAGE_PADS, rest[6].value),
    )  # fmt: skip


def _shape(item: _Item) -> tuple[ElementType, int, int]:
    shape = _SHAPE.fullmatch(item.text)
    numbers = re.findall(r"\d+|\?", shape[1]) if shape else []
    if shape is None or len(numbers) != 2:
        item.fail("an extent such as '32x64xf16'")
    rows, columns = (_whole(item, number) for number in numbers)
    return _element_named(shape[2], item.start + shape.start(2)), rows, columns


def _whole(item: _Item, text: str) -> int:
    if not re.fullmatch(rf"\d{{1,{_MOST_DIGITS}}}", text, re.ASCII):
        item.fail(f"a number of at most {_MOST_DIGITS} digits")
    return int(text)


def _number(item: _Item) -> int:
    return _whole(item, item.value)


def _extent(item: _Item, text: str) -> Extent:
    return DYNAMIC if text in ("?", "-1") else _whole(item, text)


def _element(item: _Item) -> ElementType:
    return _element_named(item.value, item.start)


def _element_named(name: str, offset: int) -> ElementType:
    try:
        return element_type_named(name)
    except InputError as error:
        raise UnknownElementError(str(error), offset) from None


def _named(kind: type[_E], item: _Item, exclude: Sequence[Enum] = ()) -> _E:
    return _chosen(item, {str(member.value): member for member in kind if member not in exclude}, item.value)


def _chosen(item: _Item, choices: Mapping[str, _T], value: str) -> _T:
    if value not in choices:
        item.fail(f"one of {', '.join(choices)}")
    return choices[value]


_READERS: dict[str, Callable[[_Item], object]] = {
    "loc": partial(_named, Location),
    "dtype": _element,
    "rows": _number,
    "cols": _number,
    "v_row": lambda item: _extent(item, item.value),
    "v_col": lambda item: _extent(item, item.value),
    "blayout": partial(_named, Order, exclude=(Order.NONE_BOX,)),
    "slayout": partial(_named, Order),
    "fractal": lambda item: _chosen(item, {str(size): size for size in FRACTAL_BYTES}, item.value),
    "pad": partial(_named, Pad),
    "compact": partial(_named, Compact),
}
