"""Every row of asynchronous instructions, and its forms by spelling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..tensor_memory import product_rows
from ..tensor_memory import rows as tensor_memory_rows
from . import barrier_rows, bulk_rows, cluster_rows
from .rows import Form, Row, Spelled, spelled

ROWS: tuple[Row, ...] = (
    *barrier_rows.ROWS, *bulk_rows.ROWS, *cluster_rows.ROWS, *tensor_memory_rows.ROWS, *product_rows.ROWS,
)  # fmt: skip
"""All rows."""

LEADS = (
    "mbarrier", "cp.async.mbarrier", "cp.async.bulk", "cp.reduce", "st.async", "red.async", "fence",
    "barrier.cluster", "mapa", "getctarank", "elect", "setmaxnreg", "griddepcontrol", "tensormap", "tcgen05",
    "clusterlaunchcontrol",
)  # fmt: skip
"""How mnemonics begin that are judged by the rows; ``prefetch`` only with ``.tensormap``."""


LATER = MappingProxyType(
    {
        "cp.async.bulk": ("cp_mask",),
        "cp.async.bulk.tensor": (
            "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4", "cta_group::1", "cta_group::2",
        ),
        "cp.async.bulk.prefetch.tensor": ("im2col::w", "im2col::w::128", "tile::gather4"),
        "cp.reduce.async.bulk.tensor": ("tile::scatter4",),
        "st.async": ("mmio", "release", "global"),
        "red.async": ("mmio", "release", "global"),
        "tensormap.replace": ("swizzle_atomicity",),
    }
)  # fmt: skip
"""Modifiers of forms that targets before `LATER_TARGET` lack, by head: the rows say nothing of them."""

LATER_TARGET = 100


class Spelling(NamedTuple):
    """A mnemonic, taken apart.

    Attributes
    ----------
    head : str
        The longest head of rows that it begins with, else what it has of one.
    modifiers : tuple of str
        The words behind it, in the order written.
    """

    head: str
    modifiers: tuple[str, ...]


@cache
def by_head() -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each head."""
    return {head: tuple(row for row in ROWS if row.head == head) for head in (row.head for row in ROWS)}


def is_judged(mnemonic: str) -> bool:
    """Tell whether a mnemonic is one of these instructions, or would be with other modifiers."""
    words = mnemonic.split(".")
    if words[0] == "prefetch":
        return "tensormap" in words
    return any(words[: lead.count(".") + 1] == lead.split(".") for lead in LEADS)


@lru_cache(maxsize=256)  # each rule of an instruction asks
def spelling(mnemonic: str) -> Spelling:
    """Take a mnemonic apart, whether some row has it or not."""
    words = mnemonic.split(".")
    for count in range(len(words), 0, -1):
        if (head := ".".join(words[:count])) in by_head():
            return Spelling(head, tuple(words[count:]))
    lead = next((lead for lead in LEADS if f"{mnemonic}.".startswith(f"{lead}.")), words[0])
    return Spelling(lead, tuple(words[lead.count(".") + 1 :]))


def later_words(mnemonic: str) -> tuple[str, ...]:
    """Return the modifiers of a mnemonic that make it one of the forms of which the rows say nothing."""
    head, modifiers = spelling(mnemonic)
    return tuple(word for word in modifiers if word in LATER.get(head, ()))


@cache
def _forms() -> Mapping[tuple[str, Spelled], tuple[Form, ...]]:
    found: dict[tuple[str, Spelled], tuple[Form, ...]] = {}
    for form in every_form():
        key = form.row.head, form.key
        found[key] = (*found.get(key, ()), form)
    return found


@cache
def every_form() -> tuple[Form, ...]:
    """Return the forms of all rows."""
    return tuple(form for row in ROWS for form in row.forms())


@cache
def form_of(mnemonic: str) -> Form | None:
    """Return the form that a mnemonic spells, None where PTX has none."""
    head, modifiers = spelling(mnemonic)
    forms = _forms().get((head, spelled(modifiers)), ())
    return forms[0] if forms else None
