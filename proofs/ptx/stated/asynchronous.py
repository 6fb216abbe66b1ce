"""The syntax of asynchronous instructions: every mnemonic, its operands, versions and targets.

A line of syntax has what may be left out in braces, and what one of has to be there in parentheses. Source:
PTX ISA 9.1 sections 9.7.9, 9.7.13, 9.7.16 and 9.7.20; ptxas of CUDA 13.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from ...text_tables import table

FIRST = {
    "75": "6.3", "80": "7.0", "86": "7.1", "87": "7.4", "88": "9.0", "89": "7.8", "90": "7.8", "90a": "8.0",
    "100": "8.6", "100a": "8.6", "100f": "8.8", "101": "8.6", "101a": "8.6", "101f": "8.8", "103": "8.8",
    "103a": "8.8", "103f": "8.8", "110": "9.0", "110a": "9.0", "110f": "9.0", "120": "8.7", "120a": "8.7",
    "120f": "8.8", "121": "8.8", "121a": "8.8", "121f": "8.8",
}  # fmt: skip
"""The first PTX version of each target."""


class Stated(NamedTuple):
    """A mnemonic.

    Attributes
    ----------
    syntax : str
        The line that has it.
    fewest, most : int
        Operands.
    ptx : tuple of int
        The first version.
    targets : tuple of str
        Those that have it.
    """

    syntax: str
    fewest: int
    most: int
    ptx: tuple[int, int]
    targets: tuple[str, ...]


_PART = re.compile(r"\{([^}]*)\}|\(([^)]*)\)|([^{}()]+)")


def spelled(syntax: str) -> Iterator[str]:
    """Yield the mnemonics of a line."""
    parts: list[tuple[str, ...]] = []
    for optional, one_of, fixed in _PART.findall(syntax):
        chosen = (optional or one_of or fixed).split("|")
        parts.append((*chosen, *([""] if optional else [])))
    yield from map("".join, product(*parts))


def _version(text: str) -> tuple[int, int]:
    major, minor = map(int, text.split("."))
    return major, minor


def _having(text: str) -> tuple[str, ...]:
    if text == "suffix":
        return tuple(name for name in FIRST if name[-1] in "af" and int(name[:-1]) >= 90)
    if text in ("tensor", "chip"):  # those with tensor memory, and of them those of one chip
        return tuple(
            name
            for name in FIRST
            if name[:2] in ("10", "11") and name[-1] in {"tensor": "af", "chip": "a"}[text]
        )
    if not text.endswith("+"):
        return tuple(text.split())
    return tuple(name for name in FIRST if int(name.rstrip("af")) >= int(text.removesuffix("+")))


@cache
def mnemonics() -> Mapping[str, Stated]:
    """Return every mnemonic."""
    later = [
        (row["instructions"], row["modifier"], _version(row["PTX"]), _having(row["targets"]))
        for row in table(__package__, "asynchronous_modifiers")
    ]
    found = {}
    for row in table(__package__, "asynchronous"):
        fewest, _, most = row["operands"].partition("..")
        for text in spelled(row["syntax"]):
            ptx, targets = _version(row["PTX"]), _having(row["targets"])
            seen = set()
            for lead, word, since, having in later:
                if f"{text}.".startswith(f"{lead}.") and word in text.split(".") and word not in seen:
                    seen.add(word)
                    ptx, targets = max(ptx, since), tuple(name for name in targets if name in having)
            words = text.split(".")
            extra = sum(word in words for word in ("multicast::cluster", "L2::cache_hint"))
            found[text] = Stated(
                row["syntax"], int(fewest) + extra, int(most or fewest) + extra, ptx, targets
            )
    return found
