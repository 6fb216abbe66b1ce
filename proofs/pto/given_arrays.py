"""Arrays that PTO's instructions are executed on: batches of buffers, and arrays without a shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations

import numpy as np

from ...spec.drawn_arrays import DrawnArrays
from ...spec.errors import InputError
from ...spec.instruction_set import instruction_set
from ..comparison import compared
from ..obligation import Case, Certificate, Method, theorem
from .stated import tables
from .stated.drawn import extents
from .stated.move_runs import MATRICES, MOVES
from .stated.product_runs import PRODUCTS
from .stated.runs import Arrays, Run

REFUSED = "refused"

BATCHED = (
    "move a part",
    "extract a part",
    "load only",
    "store a part",
    "bias",
    "f16",
    "accumulate",
    "scaled",
)
"""The runs that are made in batches, of each kind."""


@theorem(
    "pto/stated/given",
    "buffers and matrices come in batches that broadcast, and arrays without a shape get the tiles' extents",
    "∀ listed runs and two of their arrays, one in a batch of 3: the result is a batch of 3, each as "
    "without; the other in a batch of 3 too: the same; in one of 2: refused. ∀ listed statements and "
    "profiles: drawn arrays have the valid extents of the type, of the whole tile where these are open",
    "docs/command-line.md, mmaproof run; PTO IR manual, valid extents",
)
def given() -> Iterator[Case]:
    """Yield one certificate of each profile about batches, and one about extents."""
    for profile in tables.PROFILES:
        yield Case(f"batches/{profile}", partial(_batches, profile), method=Method.CERTIFICATE)
        yield Case(f"drawn/{profile}", partial(_drawn, profile), method=Method.CERTIFICATE)


def _executed(run: Run, profile: str, arrays: Arrays) -> object:
    """Return the shape of the batch, and whether every member is what the run gives alone."""
    try:
        found = instruction_set("pto").read(run.text(profile)).execute(
            arrays, as_registers=not run.matrices, rounding=None, choices=run.choices, target=profile
        )  # fmt: skip
    except InputError:
        return REFUSED
    result = found["target_bits"] if run.matrices else next(iter(found.values()))
    alone = run.result(profile)
    return result.shape[: result.ndim - alone.ndim], bool((result == alone).all())


def _batches(profile: str) -> Certificate:
    runs = [
        run
        for run in (*PRODUCTS, *MOVES, *(each for each in MATRICES if each.name == "move"))
        if profile in run.profiles and (run.name in BATCHED or run.matrices)
    ]
    numbers = (None, 2, 3)
    expected: dict[tuple[str, ...], object] = {}
    batches: dict[tuple[str, ...], tuple[Run, Arrays]] = {}
    for run in runs:
        arrays = {name: each for name, each in run.arrays(profile).items() if not name.startswith("valid")}
        rest = {name: each for name, each in run.arrays(profile).items() if name not in arrays}
        for one, other in [*combinations(arrays, 2), *((each, "") for each in arrays)]:
            for number in numbers if other else numbers[:1]:
                key = (run.name, str(run.matrices), one, other, str(number))
                held = {**arrays, **rest, one: np.stack([arrays[one]] * 3)}
                if number is not None:
                    held[other] = np.stack([arrays[other]] * number)
                batches[key] = run, held
                expected[key] = REFUSED if number == 2 else ((3,), True)
    return compared(
        expected, lambda: {key: _executed(run, profile, held) for key, (run, held) in batches.items()}
    )


def _drawn(profile: str) -> Certificate:
    stated = extents(profile)

    def specified() -> Mapping[str, object]:
        found: dict[str, object] = {}
        for text in stated:
            results = instruction_set("pto").read(text).execute(
                DrawnArrays({}, 7), as_registers=False, rounding=None, choices=(), target=profile
            )  # fmt: skip
            (shape,) = {results[name].shape for name in results}
            found[text] = shape
        return found

    return compared(stated, specified)


THEOREMS = (given,)
