"""Types as PTO text has them: tiles, in five spellings, and what is no tile.

Nothing is filled in that a text leaves out: `resolution` does that. `type_reader` reads what is printed here,
by the same tables of keys and names.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from ..element_types import ElementType
from ..tile import Compact, Extent, Location, Order, Pad

KEYS = MappingProxyType(
    {
        "loc": "location",
        "dtype": "element",
        "rows": "rows",
        "cols": "columns",
        "v_row": "valid_rows",
        "v_col": "valid_columns",
        "blayout": "blocks",
        "slayout": "inner",
        "fractal": "fractal",
        "pad": "pad",
        "compact": "compact",
    }
)
"""The keys of the keyed spelling, in its order, and the fields they set; the last may be missing."""

COMPACT_KEYS = ("blayout", "slayout", "fractal", "pad", "compact")
"""The keys of the compact spelling besides ``valid``."""

FRACTAL_NAMES = ("None", "NZ", "ZN", "ZZ", "NN", "FR", "RN")
"""What the page spelling calls the layout."""

PAGE_ORDERS = MappingProxyType(
    {Order.ROW_MAJOR: "RowMajor", Order.COL_MAJOR: "ColMajor", Order.NONE_BOX: "NoneBox"}
)
"""The orders as the page spelling has them."""

# `Invalid` stands on pages only: no header has it, and `Null` is what it describes.
PAGE_PADS = MappingProxyType(
    {"Null": Pad.NULL, "Zero": Pad.ZERO, "Max": Pad.MAX, "Min": Pad.MIN, "Invalid": Pad.NULL}
)
"""The pads as the page spelling has them; the first name of a pad is printed."""


class Spelling(StrEnum):
    """How a tile type is written."""

    OPAQUE = "!pto.tile<...>"
    SHAPE = "!pto.tile<RxCxT>"
    PAGE = "!pto.tile<loc=L, T, R, C, …>"
    KEYED = "!pto.tile_buf<loc=L, dtype=T, rows=R, …>"
    COMPACT = "!pto.tile_buf<L, RxCxT, key=value, …>"


@dataclass(frozen=True)
class TileType:
    """A tile type as spelled; None where the text does not say.

    Attributes are those of `Tile`; `fractal_name` is the page spelling's ``NZ``, ``ZN``, ….
    """

    spelling: Spelling
    location: Location | None = None
    element: ElementType | None = None
    rows: int | None = None
    columns: int | None = None
    valid_rows: Extent | None = None
    valid_columns: Extent | None = None
    blocks: Order | None = None
    inner: Order | None = None
    fractal: int | None = None
    pad: Pad | None = None
    compact: Compact | None = None
    fractal_name: str | None = None

    def __str__(self) -> str:
        match self.spelling:
            case Spelling.OPAQUE:
                return str(Spelling.OPAQUE)
            case Spelling.SHAPE:
                return f"!pto.tile<{self._shape}>"
            case Spelling.PAGE:
                return f"!pto.tile<{', '.join(self._page())}>"
            case Spelling.KEYED:
                return f"!pto.tile_buf<{', '.join(self._keyed(KEYS))}>"
            case Spelling.COMPACT:
                return f"!pto.tile_buf<{', '.join(self._compact())}>"

    @property
    def _shape(self) -> str:
        return f"{self.rows}x{self.columns}x{self.element}"

    def _keyed(self, keys: Iterable[str]) -> Iterator[str]:
        for key in keys:
            if (value := getattr(self, KEYS[key])) is not None:
                yield f"{key}={value}"

    def _compact(self) -> Iterator[str]:
        yield f"{self.location}, {self._shape}"
        if self.valid_rows is not None:
            yield f"valid={self.valid_rows}x{self.valid_columns}"
        yield from self._keyed(COMPACT_KEYS)

    def _page(self) -> Iterator[str]:
        if self.location is not None:
            yield f"loc={self.location}"
        yield f"{self.element}, {self.rows}, {self.columns}"
        if self.pad is not None:
            yield PAGE_ORDERS[self.blocks or Order.ROW_MAJOR]
            yield PAGE_ORDERS[self.inner or Order.NONE_BOX]
            pad = next(name for name, pad in PAGE_PADS.items() if pad is self.pad)
            yield f"{self.fractal_name}, {pad}"


@dataclass(frozen=True)
class OtherType:
    """A type that is no tile: ``index``, ``i64``, ``!pto.partition_tensor_view<64x128xf16>``, ….

    Attributes
    ----------
    text : str
        As written, blanks normalised.
    element : ElementType, optional
        Of a tensor view.
    extents : tuple of int or DYNAMIC
        Of a tensor view.
    """

    text: str
    element: ElementType | None = None
    extents: tuple[Extent, ...] = ()

    def __str__(self) -> str:
        return self.text


Type = TileType | OtherType


def in_destination_passing_style(type_: Type) -> str:
    """Return the text of a type as ptoas has it, whose opaque tiles are ``!pto.tile_buf<...>``."""
    opaque = isinstance(type_, TileType) and type_.spelling is Spelling.OPAQUE
    return "!pto.tile_buf<...>" if opaque else str(type_)
