"""What obligations say of the readings they hold for: points that exist, and all that results depend on."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from mmaproof.proofs.catalogue import obligations
from mmaproof.spec.formats import F32, FloatFormat
from mmaproof.spec.instruction_set import NAMES
from mmaproof.spec.mfma import choices as mfma
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power import choices as power
from mmaproof.spec.pto import choices as pto
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.products import product
from mmaproof.spec.ptx import choices as ptx

OPEN = {"power": power, "ptx": ptx, "pto": pto, "mfma": mfma}
PROSE = {
    "all",
    "every accumulation",
    "any order of accumulation in which every sum is rounded once",
    "aliasing: both",
    "aliasing: shared",
    "aliasing: separate",
}


@pytest.mark.parametrize("isa", NAMES)
def test_readings_that_obligations_name_exist(isa: str) -> None:
    named = {point.name: point.option_names for point in OPEN[isa].OPEN_POINTS}
    known = PROSE | set(OPEN[isa].PRESETS) | {f"{p}={o}" for p, options in named.items() for o in options}
    said = {
        obligation.choices for obligation in obligations().values() if obligation.id.startswith(f"{isa}/")
    }
    plain = {re.sub(r"RN=[0-3](, [0-3])*", "all", text) for text in said}
    assert {part for text in plain for part in text.split(", ")} - known == set()


def encodings(shape: tuple[int, ...], fmt: FloatFormat) -> np.ndarray:
    """Numbers of a few fraction bits and none, of any sign; some are subnormal."""
    drawn = np.random.default_rng(5).integers(0, 1 << fmt.bits, shape, dtype=np.uint64)
    small = drawn % np.uint64(fmt.infinity or 1) | drawn & np.uint64(fmt.sign_mask)
    return np.where(
        drawn % np.uint64(3) == 0, small & np.uint64(0x807FFFFF), small % np.uint64(0x42000000)
    ).astype(fmt.storage)


def test_what_products_of_pto_depend_on_is_named() -> None:
    formats = dict.fromkeys(("a", "b", "c", "d"), F32)
    a, b, c = (encodings(shape, F32) for shape in ((64, 3), (3, 64), (64, 64)))

    def computed(choices: pto.Choices) -> bytes:
        operation = OPERATIONS["tmatmul.acc"]
        return product(NumpyAlgebra(), operation, a, b, c=c, formats=formats, choices=choices).tobytes()

    usual = computed(pto.Choices())
    depends = {
        f"{point.name}={point.default}"
        for point in pto.OPEN_POINTS
        for option in point.option_names
        if option != pto.UNSPECIFIED
        and computed(replace(pto.Choices(), **{point.attribute: option})) != usual
    }
    said = obligations()["pto/blocked/step/f32-f32-f32/tmatmul.acc/k3"].choices
    assert set(said.split(", ")) == depends
