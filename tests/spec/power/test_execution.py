"""Executing instructions on arrays: the same results in every view, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power_observed_examples import EXAMPLES, Example
from power_vectors import ALGEBRA, random_vectors

from mmaproof.spec.errors import InputError
from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.catalogue import UPDATES, RankKUpdate
from mmaproof.spec.power.choices import PRESETS, Choices
from mmaproof.spec.power.operand_arrays import ROUNDINGS, Environment, execute, operands, rounding_named
from mmaproof.spec.power.rank_k_update import saturation
from mmaproof.spec.rounding import Rounding

REGISTER_BYTES = 16


def in_bits(update: RankKUpdate, count: int, seed: int) -> dict[str, np.ndarray]:
    v = random_vectors(update, False, count, np.random.default_rng(seed))
    given = {"x_bits": v.x, "y_bits": v.y, "acc_bits": v.acc}
    return {name: bits for name, bits in given.items() if name[:-5] in operands(update)}


def as_registers(bits: np.ndarray, width: int) -> np.ndarray:
    """Write elements big-endian, one after the other, by Python's integers."""
    flat = bits.reshape(len(bits), -1)
    rows = []
    for row in flat.tolist():
        number = 0
        for element in row:
            number = (number << width) | element
        rows.append(list(number.to_bytes(len(row) * width // 8, "big")))
    return np.array(rows, dtype=np.uint8)


@pytest.mark.parametrize("mnemonic", UPDATES)
def test_registers_and_matrices_are_two_views_of_one_result(mnemonic: str) -> None:
    update = UPDATES[mnemonic]
    bits = in_bits(update, 24, seed=1)
    read = operands(update)
    images = {name: as_registers(bits[f"{name}_bits"], each.format.bits) for name, each in read.items()}
    assert images["x"].shape[-1] == REGISTER_BYTES * update.family.x_registers
    assert images["y"].shape[-1] == REGISTER_BYTES
    matrices = execute(parse(mnemonic), bits)
    registers = execute(parse(mnemonic), images, as_registers=True)
    expected = as_registers(matrices["acc_bits"], update.family.result.bits)
    assert expected.shape[-1] == 4 * REGISTER_BYTES
    np.testing.assert_array_equal(registers["acc"], expected)
    assert registers.keys() - {"acc"} == ({"saturated"} if update.saturates else set())


@pytest.mark.parametrize("mnemonic", UPDATES)
def test_values_are_the_numbers_of_the_encodings(mnemonic: str) -> None:
    results = execute(parse(mnemonic), in_bits(UPDATES[mnemonic], 24, seed=2))
    kind = "i" if results["acc"].dtype.kind == "i" else "f"
    assert results["acc"].dtype == np.dtype(f"{kind}{results['acc_bits'].itemsize}")
    assert results["acc"].tobytes() == results["acc_bits"].tobytes()


@pytest.mark.parametrize("mnemonic", ["xvi8ger4spp", "xvf32gerpp", "xvbf16ger2np", "xvf64gernn"])
def test_a_long_batch_is_its_parts(mnemonic: str) -> None:
    bits = in_bits(UPDATES[mnemonic], 5000, seed=3)
    whole = execute(parse(mnemonic), bits)
    for part in (slice(0, 1), slice(1, 17), slice(4990, 5000)):
        alone = execute(parse(mnemonic), {name: array[part] for name, array in bits.items()})
        for name, array in alone.items():
            np.testing.assert_array_equal(array, whole[name][part])


def test_batch_axes_broadcast() -> None:
    bits = in_bits(UPDATES["xvi16ger2pp"], 6, seed=4)
    x, y, acc = bits["x_bits"][:3, None], bits["y_bits"][3:5], bits["acc_bits"][5]
    results = execute(parse("xvi16ger2pp"), {"x_bits": x, "y_bits": y, "acc_bits": acc})["acc_bits"]
    assert results.shape == (3, 2, 4, 4)
    for i in range(3):
        for j in range(2):
            one = execute(parse("xvi16ger2pp"), {"x_bits": x[i, 0], "y_bits": y[j], "acc_bits": acc})
            np.testing.assert_array_equal(results[i, j], one["acc_bits"])


def test_an_empty_batch_gives_an_empty_result() -> None:
    results = execute(parse("xvf64ger"), {"x": np.zeros((2, 0, 4, 1)), "y": np.zeros((2, 1))})
    assert results["acc"].shape == (2, 0, 4, 2)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 3))
def test_masks_are_those_of_the_text(xmsk: int, ymsk: int, pmsk: int) -> None:
    x, y = np.arange(1, 9).reshape(4, 2), np.arange(11, 19).reshape(4, 2)
    rows, columns, products = (
        np.array([bool(mask >> bit & 1) for bit in reversed(range(width))])
        for mask, width in ((xmsk, 4), (ymsk, 4), (pmsk, 2))
    )
    text = f"pmxvi16ger2 a0,vs34,vs35,{xmsk},{ymsk},{pmsk}"
    expected = ((x * products) @ y.T) * rows[:, None] * columns
    np.testing.assert_array_equal(execute(parse(text), {"x": x, "y": y})["acc"], expected)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "isa" in e.presets], ids=str)
def test_observed_examples_with_the_environment_they_name(example: Example) -> None:
    v = example.vectors()
    masks = [int(mask[0]) for mask in (v.x_mask, v.y_mask, v.product_mask)]
    operands = [0, 34, 36, *masks[: 3 if example.update.family.rank > 1 else 2]]
    text = f"pm{example.update.mnemonic} {','.join(map(str, operands))}"
    given_ = {"x_bits": v.x, "y_bits": v.y, "acc_bits": v.acc}
    for position, rounding in enumerate(example.roundings):
        environment = Environment(rounding, PRESETS["isa"])
        results = execute(parse(text), {n: a[position] for n, a in given_.items()}, environment)
        np.testing.assert_array_equal(results["acc_bits"], example.expected()[position])


def test_saturated_elements_are_reported() -> None:
    update = UPDATES["xvi8ger4spp"]
    bits = in_bits(update, 200, seed=5)
    v = random_vectors(update, False, 200, np.random.default_rng(5))
    expected = saturation(ALGEBRA, update, v.x, v.y, v.acc, v.live())
    assert expected.any() and not expected.all()
    np.testing.assert_array_equal(execute(parse("xvi8ger4spp"), bits)["saturated"], expected)


def test_choices_and_rounding_reach_the_arithmetic() -> None:
    one = {"x": np.full((4, 1), 1 + 2.0**-23), "y": np.full((4, 1), 1 + 2.0**-23), "acc": np.zeros((4, 4))}
    found = {
        (negation, rounding): execute(
            parse("xvf32gernp"), one, Environment(rounding, Choices(negation=negation))
        )["acc_bits"][0, 0]
        for negation in ("after-rounding", "before-rounding")
        for rounding in Rounding
    }
    after = [found["after-rounding", rounding] for rounding in Rounding]
    before = [found["before-rounding", rounding] for rounding in Rounding]
    assert after == [0xBF800002, 0xBF800002, 0xBF800003, 0xBF800002]
    assert before == [0xBF800002, 0xBF800002, 0xBF800002, 0xBF800003]


def test_the_moves_go_to_registers_and_back() -> None:
    registers = np.random.default_rng(6).integers(0, 256, (5, 4, 16), dtype=np.uint8)
    acc = execute(parse("xxmtacc a1"), {"vsr": registers}, as_registers=True)["acc"]
    np.testing.assert_array_equal(acc, registers.reshape(5, 64))
    back = execute(parse("xxmfacc a1"), {"acc": acc}, as_registers=True)["vsr"]
    np.testing.assert_array_equal(back, registers)
    assert not execute(parse("xxsetaccz a1"), {}, as_registers=True)["acc"].any()


def test_roundings_have_names_and_codes() -> None:
    for name, rounding in ROUNDINGS.items():
        assert rounding_named(name) is rounding_named(str(rounding.value)) is rounding
    with pytest.raises(InputError, match="unknown rounding 'up'; known: nearest-even"):
        rounding_named("up")


X, Y, ACC = np.ones((4, 1)), np.ones((4, 1)), np.ones((4, 4))


@pytest.mark.parametrize(
    ("text", "arrays", "message"),
    [
        ("xvf32gerpp", {"x": X, "y": Y}, "the accumulator is not primed: no array 'acc'"),
        ("xvf32ger", {"x": X}, r"no array 'y' \(there are: x\); .* takes one of them, \(…, 4, 1\) of f32"),
        ("xvf32ger", {"x": X, "x_bits": X, "y": Y}, "both x and x_bits are given"),
        ("xvf32ger", {"x": X, "y": Y, "z": Y}, "xvf32ger has no operand 'z'; known: x, y, acc, x_bits"),
        ("xvf32ger", {"x": X.T, "y": Y}, r"x has shape \(1, 4\); it must be \(…, 4, 1\)"),
        ("xvf32ger", {"x": np.float64(1), "y": Y}, r"x has shape \(\); it must be"),
        ("xvf32ger", {"x": np.ones((3, 4, 1)), "y": np.ones((2, 4, 1))}, "batch axes don't broadcast"),
        ("xvf32ger", {"x": X + 0.1, "y": Y}, r"x\[0, 0\] = 1.1 is not exactly representable in f32"),
        ("xvf32ger", {"x_bits": X, "y": Y}, "x_bits has dtype float64"),
        ("pmxvf32ger", {"x": X, "y": Y}, "needs its masks: spell its operands, AT,XA,XB,XMSK,YMSK"),
        ("pmxvf32ger a0,vs34,vs35,16,0", {}, "mask-range: XMSK must be 0..15, not 16"),
        ("xvf64ger a0,vs33,vs36", {}, "is illegal: odd-pair"),
        ("xvf32ger a0,vs1,vs36", {}, "is illegal: vsr-overlap"),
        ("lxv", {}, "lxv can't be executed alone"),
        ("xxmtacc", {}, "moves whole registers"),
    ],
)  # fmt: skip
def test_what_can_not_be_executed_is_refused(text: str, arrays: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        execute(parse(text), arrays)


VSR = np.zeros(16, dtype=np.uint8)


@pytest.mark.parametrize(
    ("text", "arrays", "message"),
    [
        ("xvf64ger", {"x": VSR, "y": VSR}, r"x has shape \(16,\); it must be \(…, 32\)"),
        ("xvf32ger", {"x": VSR.astype(int), "y": VSR}, "x has dtype int64; it must be uint8"),
        ("xvf32gerpp", {"x": VSR, "y": VSR}, r"not primed: no array 'acc'.*takes \(…, 64\) uint8"),
        ("xvf32ger", {"x_bits": VSR, "y": VSR}, "has no operand 'x_bits'; known: x, y, acc"),
        ("xxmtacc", {}, r"no array 'vsr' \(there are: none\); xxmtacc takes \(…, 4, 16\) uint8"),
        ("xxmfacc", {"acc": VSR}, r"acc has shape \(16,\); it must be \(…, 64\)"),
    ],
)
def test_wrong_register_images_are_refused(text: str, arrays: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        execute(parse(text), arrays, as_registers=True)
