"""Layouts linear over F2, as Triton prints them: bit i of a register, lane, … moves the element by a vector.

A lane (or register, warp, block) is the xor of the vectors of its bits. Read are the list that
``LinearLayout::toString`` prints, the attribute ``#ttg.linear<{register = [[0, 1], …], …}>``, Gluon's
``DistributedLinearLayout(reg_bases=…)`` and a plain dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import InputError
from ..layout import Axis, Digit, Layout
from ..layout_terms import log2
from .distribution import MAX_ELEMENTS

Basis = tuple[tuple[int, ...], ...]
"""The vectors of the bits of one kind of holder, the lowest bit's first."""

HOLDERS = ("register", "lane", "warp", "block", "offset", "field")
"""What has bits: a lane's registers (one element each), lanes, warps, blocks; the offsets of a buffer; the
fields of registers that belong to no lane."""

WARP_BITS = 5
"""Bits of the number of a lane in a warp."""

_ALIASES = {"reg": "register", "value": "register", "thread": "lane", "cta": "block"}
_MAX_INTEGER = 1 << 31
_MAX_LENGTH = 100_000


@dataclass(frozen=True)
class LinearLayout:
    """The vectors of every kind of holder.

    Attributes
    ----------
    bases : dict of str to tuple of vectors
        For every one of `HOLDERS` that is written.
    names : tuple of str
        What the coordinates are called, where that is written.
    """

    bases: dict[str, Basis]
    names: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """Coordinates of an element; 0 where no vector is written."""
        return next((len(vector) for basis in self.bases.values() for vector in basis), len(self.names))

    def basis(self, holder: str) -> Basis:
        """Return the vectors of a kind of holder, none where it is not written."""
        return self.bases.get(holder, ())

    def layout(self, source: Sequence[Axis], target: Sequence[Axis]) -> Layout:
        """Return what the vectors of these holders say, of as many bits of each as there are."""
        digits = (
            Digit(place, 1 << bit, 2, vector)
            for place, axis in enumerate(source)
            for bit, vector in enumerate(self.basis(axis.name)[: log2(axis.extent)])
        )
        return Layout("", tuple(source), tuple(target), tuple(digits))

    def __str__(self) -> str:
        return ", ".join(f"{holder} = {spell_basis(basis)}" for holder, basis in self.bases.items())

    def threads_as_lanes(self, bits: int) -> LinearLayout:
        """Return the layout with warps counted as further lanes, up to so many bits of a thread's number."""
        taken = max(0, bits - len(self.basis("lane")))
        warps = self.basis("warp")
        return replace(
            self, bases={**self.bases, "lane": self.basis("lane") + warps[:taken], "warp": warps[taken:]}
        )

    def threads_by_warps(self) -> LinearLayout:
        """Return the layout with the lanes beyond a warp's as warps."""
        lanes = self.basis("lane")
        return replace(self, bases={**self.bases, "lane": lanes[:WARP_BITS], "warp": lanes[WARP_BITS:]})

    def reordered(self, places: Sequence[int]) -> LinearLayout:
        """Return the layout with its coordinates in another order."""
        return LinearLayout(
            {
                holder: tuple(tuple(vector[place] for place in places) for vector in basis)
                for holder, basis in self.bases.items()
            },
            tuple(self.names[place] for place in places) if self.names else (),
        )


def spell_basis(basis: Basis) -> str:
    """Write vectors as Triton's attribute does."""
    return f"[{', '.join(spell_vector(vector) for vector in basis)}]"


def spell_vector(vector: Sequence[int]) -> str:
    """Write one vector."""
    return f"[{', '.join(map(str, vector))}]"


_PRINTED_VECTOR = re.compile(r"[-\s]*([A-Za-z_]\w*)\s*=\s*(\d{1,9})\s*->\s*\(([-\d,\s]*)\)\s*")
_PRINTED_EMPTY = re.compile(r"[-\s]*([A-Za-z_]\w*) is a size 1 dimension\s*")
_PRINTED_NAMES = re.compile(r"\s*where out dims are:?\s*\[([^\[\]]*)\]\s*")
_PRINTED_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\(size (\d{1,9})\))?\s*")
_WRAPPING = re.compile(r"\A\s*(?:#?[A-Za-z_][\w.]*\s*)?([<({]*)(.*?)([>)}]*)\s*\Z", re.DOTALL)
_ENTRY = re.compile(r"""\s*["']?([A-Za-z_]\w*)["']?\s*[=:]\s*(\[[^A-Za-z=:]*\])\s*(?:,|\Z)""")


def is_linear(text: str) -> bool:
    """Whether a text looks like vectors of registers and lanes."""
    return re.search(r"=\s*\d+\s*->|size 1 dimension", text) is not None or (
        re.search(r"""(?:register|lane|reg_bases|offset|field)["']?\s*[=:]\s*\[""", text) is not None
    )


def parse_linear(text: str) -> LinearLayout:
    """Read a linear layout.

    Raises
    ------
    InputError
        If it is none.
    """
    if len(text) > _MAX_LENGTH:
        raise InputError(f"a layout of {len(text)} characters is not read; {_MAX_LENGTH} are allowed")
    printed = re.search(r"->|size 1 dimension", text)
    layout = _printed(text) if printed else _written(text)
    ranks = {len(vector) for basis in layout.bases.values() for vector in basis}
    if len(ranks | ({len(layout.names)} if layout.names else set())) > 1:
        raise InputError("the vectors of a linear layout need the same number of coordinates")
    if (bits := sum(len(basis) for basis in layout.bases.values())) >= MAX_ELEMENTS.bit_length():
        raise InputError(f"a layout of 2^{bits} elements is not looked at; {MAX_ELEMENTS} are allowed")
    return layout


def _printed(text: str) -> LinearLayout:
    bases: dict[str, list[tuple[int, ...]]] = {}
    names: tuple[str, ...] = ()
    position = 0
    while position < len(text):
        if match := _PRINTED_VECTOR.match(text, position):
            basis = bases.setdefault(_holder(match[1]), [])
            if int(match[2]) != 1 << len(basis):
                raise InputError(
                    f"{match[1]}={match[2]} of a linear layout: {match[1]}={1 << len(basis)} is next"
                )
            basis.append(_vector(match[3]))
        elif match := _PRINTED_EMPTY.match(text, position):
            bases.setdefault(_holder(match[1]), [])
        elif match := _PRINTED_NAMES.match(text, position):
            found = [_PRINTED_NAME.fullmatch(part) for part in match[1].split(",")]
            names = tuple(name[1] for name in found if name)
        else:
            raise InputError(f"{text[position : position + 40].strip()!r} is not of a linear layout")
        position = match.end()
    return LinearLayout({holder: tuple(basis) for holder, basis in bases.items()}, names)


def _written(text: str) -> LinearLayout:
    match = _WRAPPING.match(text)
    assert match is not None
    body, position = match[2], 0
    bases: dict[str, Basis] = {}
    while body[position:].strip():
        if (entry := _ENTRY.match(body, position)) is None:
            raise InputError(f"{body[position : position + 40].strip()!r} is not of a linear layout")
        position = entry.end()
        if entry[1] == "shape":
            continue
        holder = _holder(entry[1].removesuffix("_bases"))
        if holder in bases:
            raise InputError(f"{holder} is written twice in a linear layout")
        bases[holder] = _vectors(entry[2])
    return LinearLayout(bases)


def _holder(name: str) -> str:
    holder = _ALIASES.get(name.lower(), name.lower())
    if holder not in HOLDERS:
        raise InputError(f"{name!r} of a linear layout: holders are {', '.join(HOLDERS)}")
    return holder


def _vectors(text: str) -> Basis:
    inside = text.strip()[1:-1].strip()
    if not inside:
        return ()
    if not re.fullmatch(r"\[[^\[\]]*\](?:\s*,\s*\[[^\[\]]*\])*\s*,?", inside):
        raise InputError(f"{text.strip()[:60]!r} is no list of vectors such as [[0, 1], [8, 0]]")
    return tuple(_vector(part) for part in re.findall(r"\[([^\[\]]*)\]", inside))


def _vector(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(re.fullmatch(r"\d{1,10}", part) for part in parts):
        raise InputError(f"({text.strip()[:40]}) is no vector of a linear layout: coordinates are 0 or more")
    vector = tuple(map(int, parts))
    if max(vector) > _MAX_INTEGER:
        raise InputError(f"({text.strip()}) is absurdly large; coordinates up to {_MAX_INTEGER} are allowed")
    return vector
