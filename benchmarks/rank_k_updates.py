"""How many Power rank-k updates a second the executor computes, in one process, on batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mmaproof.spec.algebra import Array
from mmaproof.spec.formats import Format
from mmaproof.spec.power.batches import rank_k_updates
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.rank_k_update import Live
from mmaproof.spec.rounding import Rounding

from .figure import Figure, shortest_time

BATCH = 1 << 15
REPETITIONS = 20
TARGETS = {"xvf32gerpp": 3.0, "xvbf16ger2pp": 1.5}
"""Millions a second; the other mnemonics promise nothing."""


def figures() -> Iterator[Figure]:
    for mnemonic, update in UPDATES.items():
        if update.suffix in ("pp", "spp"):
            yield Figure(mnemonic, millions_a_second(mnemonic), "M/s", TARGETS.get(mnemonic))


def millions_a_second(mnemonic: str) -> float:
    """Execute a batch of random encodings: every class of number and NaN occurs."""
    update = UPDATES[mnemonic]
    family = update.family
    rng = np.random.default_rng(0)

    def encodings(fmt: Format, *shape: int) -> Array:
        highest = (1 << fmt.bits) - 1
        return rng.integers(0, highest, (BATCH, *shape), dtype=fmt.storage, endpoint=True)

    x = encodings(family.x, 4, family.rank)
    y = encodings(family.y, family.columns, family.rank)
    acc = encodings(family.result, 4, family.columns)
    live = Live(*(np.ones(count, dtype=bool) for count in (4, family.columns, family.rank)))
    seconds = shortest_time(
        lambda: rank_k_updates(update, x, y, acc, live, Rounding.NEAREST_EVEN, Choices()),
        REPETITIONS,
    )
    return BATCH / seconds / 1e6
