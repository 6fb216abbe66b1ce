"""The profiles that execute PTO: their buffers, and the tiles their aliases stand for.

Source: pto-isa headers at 3186c381.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InputError
from .element_types import ElementType
from .tile import Compact, Extent, Location, Order, Tile

KIB = 1024


@dataclass(frozen=True)
class Profile:
    """A target of PTO.

    Attributes
    ----------
    name : str
        ``A2A3``, ``A5`` or ``CPU``.
    processors : str
        What it is.
    left_blocks : Order
        Order of the blocks of ``TileLeft``.
    capacities : mapping of Location to int
        Bytes of every buffer; 0 where there is none.
    cube : bool
        Whether a matrix unit executes the products: it derives the pitches of its operands from m, k and
        n, starts the sum from the accumulator (or the bias), and accumulates in place.
    microscaling : bool
        Whether there are ``.mx`` products.
    """

    name: str
    processors: str
    left_blocks: Order
    capacities: Mapping[Location, int]
    cube: bool
    microscaling: bool

    def __str__(self) -> str:
        return self.name


def _capacities(vec: int, acc: int, bias: int, scaling: int, scale_factors: int) -> Mapping[Location, int]:
    return MappingProxyType(
        {
            Location.VEC: vec * KIB,
            Location.MAT: 512 * KIB,
            Location.LEFT: 64 * KIB,
            Location.RIGHT: 64 * KIB,
            Location.ACC: acc * KIB,
            Location.BIAS: bias * KIB,
            Location.SCALING: scaling * KIB,
            Location.SCALE_LEFT: scale_factors * KIB,
            Location.SCALE_RIGHT: scale_factors * KIB,
        }
    )


A2A3 = Profile(
    "A2A3",
    "Ascend 910B and 910C",
    Order.ROW_MAJOR,
    _capacities(vec=192, acc=128, bias=1, scaling=2, scale_factors=0),
    cube=True,
    microscaling=False,
)
A5 = Profile(
    "A5",
    "Ascend 950",
    Order.COL_MAJOR,
    _capacities(vec=256, acc=256, bias=4, scaling=4, scale_factors=4),
    cube=True,
    microscaling=True,
)
CPU = Profile(
    "CPU",
    "header-only simulator; the bias table and the fixpipe buffer lie in its vector buffer",
    Order.COL_MAJOR,
    _capacities(vec=512, acc=256, bias=512, scaling=512, scale_factors=4),
    cube=False,
    microscaling=True,
)

PROFILES = MappingProxyType({profile.name: profile for profile in (A2A3, A5, CPU)})
"""Every profile by name."""

# ptoas says a3 and a5 (--pto-arch, pto.target_arch), pypto Ascend910B and Ascend950, bisheng dav-2201.
_SPELLINGS = MappingProxyType(
    {
        **{name.lower(): profile for name, profile in PROFILES.items()},
        **dict.fromkeys(("a2", "a3", "ascend910b", "ascend910c", "dav-2201"), A2A3),
        **dict.fromkeys(("ascend950", "dav-3101", "dav-3510"), A5),
    }
)


class ProfileNames(Collection[str]):
    """The names of the profiles; whatever else tools call them is contained too, in any case."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in _SPELLINGS

    def __iter__(self) -> Iterator[str]:
        return iter(PROFILES)

    def __len__(self) -> int:
        return len(PROFILES)


TARGETS = ProfileNames()
"""The profiles by name."""


def profile_named(name: str) -> Profile:
    """Look a profile up by its name or what other tools call it (``A3``, ``Ascend950``), in any case.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        return _SPELLINGS[name.lower()]
    except KeyError:
        raise InputError(f"unknown profile {name[:60]!r}; known: {', '.join(PROFILES)}") from None


_ALIASES = MappingProxyType(
    {
        Location.RIGHT: (Order.ROW_MAJOR, Order.COL_MAJOR, 512),
        Location.ACC: (Order.COL_MAJOR, Order.ROW_MAJOR, 1024),
        Location.SCALE_LEFT: (Order.ROW_MAJOR, Order.ROW_MAJOR, 32),
        Location.SCALE_RIGHT: (Order.COL_MAJOR, Order.COL_MAJOR, 32),
        Location.MAT: (Order.COL_MAJOR, Order.ROW_MAJOR, 512),
        Location.BIAS: (Order.ROW_MAJOR, Order.NONE_BOX, 512),
        Location.VEC: (Order.ROW_MAJOR, Order.NONE_BOX, 512),
        Location.SCALING: (Order.ROW_MAJOR, Order.NONE_BOX, 512),
    }
)
"""Order of blocks, order inside a block and fractal size, where profiles agree."""


def alias(
    profile: Profile,
    location: Location,
    element: ElementType,
    extent: tuple[int, int],
    valid: tuple[Extent, Extent] | None = None,
    compact: Compact = Compact.NULL,
) -> Tile:
    """Return the tile that a profile's alias (``TileLeft``, ``TileRight``, …) stands for.

    Parameters
    ----------
    profile, location, element : Profile, Location, ElementType
        Which alias.
    extent : (int, int)
        Rows and columns.
    valid : (int or DYNAMIC, int or DYNAMIC), optional
        The valid region; the whole tile by default.
    compact : Compact
        ``Compact.NORMAL`` for the ``…Compact`` variants.
    """
    blocks, inner, fractal = _ALIASES.get(location, (profile.left_blocks, Order.ROW_MAJOR, 512))
    return Tile(
        location, element, *extent, *(valid or extent), blocks=blocks, inner=inner, fractal=fractal,
        compact=compact,
    )  # fmt: skip
