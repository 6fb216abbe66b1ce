"""A reference's program in numpy, held against PyTorch's own run of the reference on numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .programs import reference_text
from .recording import Recording, identifiers

RELATIVE, ABSOLUTE = 2e-3, 2e-3
"""How far apart numbers may be: PyTorch rounds every step, the program in numpy hardly any."""

HALF = 3e-2
"""The same where something is of a type of 16 bits."""


def disagreement(recording: Recording, numbers: Path) -> str | None:
    """Return how the program of a reference differs from what PyTorch computed; None where it does not."""
    names = identifiers(recording)
    outputs = [f"result{place}" for place in range(len(recording.results))]
    namespace: dict[str, Any] = {}
    exec(compile(reference_text(recording, names, outputs, ""), "reference.py", "exec"), namespace)
    with np.load(numbers) as held:
        given = {
            name: held[f"{storage.origin} {storage.name}"].reshape(-1)
            for name, storage in zip(names, recording.storages, strict=True)
            if storage.origin in ("input", "parameter")
        }
        wanted = [held[f"result {place}"] for place in range(len(outputs))]
    with np.errstate(all="ignore"):
        found = namespace["reference"](**given)
    narrow = any(each.dtype in ("float16", "bfloat16") for each in recording.storages)
    return _difference([np.asarray(found[name]) for name in outputs], wanted, HALF if narrow else RELATIVE)


def _difference(found: Sequence[Any], wanted: Sequence[Any], relative: float) -> str | None:
    for place, (given, theirs) in enumerate(zip(found, wanted, strict=True)):
        mine = given.reshape(()) if theirs.shape == () else given
        if mine.shape != theirs.shape:
            return f"result {place} has the shape {list(theirs.shape)}, not {list(mine.shape)}"
        reals = np.asarray(mine, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
        scale = float(np.abs(reals[1][np.isfinite(reals[1])]).max(initial=0))
        near = np.isclose(*reals, rtol=relative, atol=ABSOLUTE * min(scale, 1) + 1e-6, equal_nan=True)
        if not near.all():
            index = tuple(int(each) for each in np.argwhere(~near)[0])
            return f"result {place} is {reals[1][index]:.6g} at {list(index)}, not {reals[0][index]:.6g}"
    return None
