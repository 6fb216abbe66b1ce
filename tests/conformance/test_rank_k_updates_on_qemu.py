"""Bit for bit: the specification against QEMU's Power10, all 58 rank-k updates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from power_oracle import Oracle, Outcomes
from power_vectors import ALGEBRA, Vectors, random_vectors

from mmaproof.spec.formats import Format
from mmaproof.spec.power.catalogue import UPDATES, FloatFamily, RankKUpdate
from mmaproof.spec.power.choices import OPEN_POINTS, PRESETS, Choices
from mmaproof.spec.power.float_exceptions import BITS, FX, INVALID, VX, raised
from mmaproof.spec.power.rank_k_update import rank_k_update, saturation
from mmaproof.spec.rounding import Rounding

VECTORS_PER_FORM = 4096
"""58 forms make 237,568 vectors."""


@dataclass(frozen=True)
class Deviation:
    """Where QEMU 7.2 does not do what the ISA's reading of an open point says.

    Attributes
    ----------
    point : str
        The open point; `PRESETS` says which option QEMU takes.
    mnemonics : tuple of str
        Word forms; the ``pm`` forms deviate alike.
    roundings : tuple of Rounding
        Directions under which the difference can be seen at all.
    reason : str
        What is different, and who says so.
    """

    point: str
    mnemonics: tuple[str, ...]
    roundings: tuple[Rounding, ...]
    reason: str

    def concerns(self, update: RankKUpdate, rounding: Rounding) -> bool:
        return update.mnemonic in self.mnemonics and rounding in self.roundings

    def read_as(self, preset: str, choices: Choices) -> Choices:
        """Return `choices` with this point read as a preset reads it."""
        name = self.point.replace("-", "_")
        return replace(choices, **{name: getattr(PRESETS[preset], name)})

    @property
    def gone(self) -> str:
        return f"this QEMU no longer deviates in {self.point!r}; update the preset. Known was: {self.reason}"


DEVIATIONS = (
    Deviation(
        "bf16-sum",
        ("xvbf16ger2pp", "xvbf16ger2pn", "xvbf16ger2np", "xvbf16ger2nn"),
        tuple(Rounding),
        "QEMU rounds the product sum to f32's range before it adds the accumulator; its author found "
        "values from mambo/hardware that it misses (qemu-devel 2022-05-10)",
    ),
    Deviation(
        "bf16-sum",
        ("xvbf16ger2",),
        (Rounding.NEAREST_EVEN,),
        "without an accumulator the two roundings differ from one only where both round to nearest: "
        "a tie made by the first, in f32's subnormal range",
    ),
    Deviation(
        "negation",
        ("xvf32gernp", "xvf32gernn", "xvf64gernp", "xvf64gernn"),
        (Rounding.UPWARD, Rounding.DOWNWARD),
        "QEMU before 2025-05 negates before it rounds; fixed by 'fpu: Process "
        "float_muladd_negate_result after rounding' (qemu-devel 2025-05-07)",
    ),
)


@dataclass(frozen=True)
class Form:
    """The word or the ``pm`` form of a rank-k update."""

    update: RankKUpdate
    prefixed: bool

    def __str__(self) -> str:
        return "pm" * self.prefixed + self.update.mnemonic


@dataclass(frozen=True)
class Observation:
    """Vectors and what QEMU made of them."""

    form: Form
    vectors: Vectors = field(repr=False)
    outcomes: Outcomes = field(repr=False)

    def differences(self, rounding: Rounding, choices: Choices) -> NDArray[np.intp]:
        """Return the indices (m, 3) of elements under `rounding` that the specification has otherwise."""
        expected = self.specified(rounding, choices)
        different = np.zeros(self.outcomes.acc.shape, dtype=bool)
        selected = self.under(rounding)
        different[selected] = expected != self.outcomes.acc[selected]
        return np.argwhere(different)

    def under(self, rounding: Rounding) -> NDArray[np.bool_]:
        return np.asarray(self.vectors.rounding == rounding.value)

    def specified(self, rounding: Rounding, choices: Choices) -> NDArray[Any]:
        v = self.vectors.where(self.under(rounding))
        return rank_k_update(ALGEBRA, self.form.update, v.x, v.y, v.acc, v.live(), rounding, choices)

    def report(self, differences: NDArray[np.intp], rounding: Rounding, choices: Choices) -> str:
        """Describe the first difference in hexadecimal."""
        n, i, j = (int(index) for index in differences[0])
        v, family = self.vectors, self.form.update.family
        position = int(self.under(rounding)[:n].sum())

        def hexadecimal(encodings: NDArray[Any], fmt: Format) -> str:
            return " ".join(f"{int(encoding):0{fmt.bits // 4}x}" for encoding in np.atleast_1d(encodings))

        return (
            f"{self.form} RN={rounding.value}: {len(differences)} elements differ; "
            f"vector {n} element ({i},{j}): "
            f"x={hexadecimal(v.x[n, i], family.x)} y={hexadecimal(v.y[n, j], family.y)} "
            f"acc={hexadecimal(v.acc[n, i, j], family.result)} "
            f"XMSK={v.x_mask[n]:#x} YMSK={v.y_mask[n]:#x} PMSK={v.product_mask[n]:#x}: "
            f"QEMU gives {hexadecimal(self.outcomes.acc[n, i, j], family.result)}, the specification "
            f"{hexadecimal(self.specified(rounding, choices)[position, i, j], family.result)}, {choices}"
        )


FORMS = tuple(Form(update, prefixed) for update in UPDATES.values() for prefixed in (False, True))


@pytest.fixture(scope="module", params=FORMS, ids=str)
def observation(request: pytest.FixtureRequest, power_oracle: Oracle) -> Observation:
    form: Form = request.param
    rng = np.random.default_rng(FORMS.index(form))
    vectors = random_vectors(form.update, form.prefixed, VECTORS_PER_FORM, rng)
    return Observation(form, vectors, power_oracle.execute(form.update, form.prefixed, vectors))


@pytest.mark.parametrize("rounding", Rounding)
def test_qemu_computes_what_the_isa_says_except_for_the_named_deviations(
    observation: Observation, rounding: Rounding
) -> None:
    isa = PRESETS["isa"]
    differences = observation.differences(rounding, isa)
    deviations = [d for d in DEVIATIONS if d.concerns(observation.form.update, rounding)]
    if not deviations:
        assert not len(differences), observation.report(differences, rounding, isa)
        return
    (deviation,) = deviations
    assert len(differences), f"{observation.form} RN={rounding.value}: {deviation.gone}"
    deviant = deviation.read_as("qemu-7.2", isa)
    rest = observation.differences(rounding, deviant)
    assert not len(rest), f"more than {deviation.point!r}: {observation.report(rest, rounding, deviant)}"


@pytest.mark.parametrize("rounding", Rounding)
def test_the_qemu_preset_is_qemu_bit_for_bit(observation: Observation, rounding: Rounding) -> None:
    preset = PRESETS["qemu-7.2"]
    differences = observation.differences(rounding, preset)
    gone = [
        f"{deviation.gone}. "
        for deviation in DEVIATIONS
        if deviation.concerns(observation.form.update, rounding)
        and not len(observation.differences(rounding, deviation.read_as("isa", preset)))
    ]
    assert not len(differences), "".join(gone) + observation.report(differences, rounding, preset)


def test_sat_is_set_exactly_by_the_elements_that_are_clamped(observation: Observation) -> None:
    update, v = observation.form.update, observation.vectors
    clamped = saturation(ALGEBRA, update, v.x, v.y, v.acc, v.live()).any(axis=(1, 2))
    np.testing.assert_array_equal(observation.outcomes.saturated, clamped)
    assert clamped.any() == update.saturates, "the vectors should clamp somewhere exactly in saturating forms"


@pytest.mark.parametrize("rounding", Rounding)
def test_sticky_bits_are_those_that_qemu_sets(observation: Observation, rounding: Rounding) -> None:
    update, selected = observation.form.update, observation.under(rounding)
    if not isinstance(update.family, FloatFamily):
        assert not (observation.outcomes.fpscr & np.uint64(FX)).any()
        return
    v = observation.vectors.where(selected)
    some = raised(ALGEBRA, update, v.x, v.y, v.acc, v.live(), rounding, PRESETS["qemu-7.2"])
    bits = np.zeros(len(v.x), dtype=np.uint64)
    for name, bit in BITS.items():
        summaries = FX | (VX if name in INVALID else 0)
        set_by_any = getattr(some, name).any(axis=(1, 2))
        bits |= np.where(set_by_any, np.uint64(bit | summaries), np.uint64(0))
    # QEMU looks at the flags of all elements together, and at underflow only where nothing overflows
    bits[(bits & np.uint64(BITS["overflow"])) != 0] &= ~np.uint64(BITS["underflow"])
    found = observation.outcomes.fpscr[selected] & np.uint64(FX | VX | sum(BITS.values()))
    different = np.flatnonzero(found != bits)
    assert not len(different), [(int(n), f"{bits[n]:#x}", f"{found[n]:#x}") for n in different[:4]]


def test_the_deviations_are_the_points_that_the_two_presets_read_differently() -> None:
    values = {point.name: point.name.replace("-", "_") for point in OPEN_POINTS}
    isa, qemu = PRESETS["isa"], PRESETS["qemu-7.2"]
    differing = {name for name, field in values.items() if getattr(isa, field) != getattr(qemu, field)}
    # One instruction at a time, it can't be seen whether accumulators share storage with VSRs.
    assert {deviation.point for deviation in DEVIATIONS} == differing - {"aliasing"}
