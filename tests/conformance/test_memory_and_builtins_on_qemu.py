"""Memory order and GCC's built-ins, as GCC compiles them and QEMU runs them, in both byte orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from power_oracle import compile_for_power10, run_on_power10
from power_vectors import ALGEBRA

from mmaproof.spec.formats import Format, IntegerFormat, numpy_type
from mmaproof.spec.power.builtins import Builtins
from mmaproof.spec.power.catalogue import FAMILIES, UPDATES, Family
from mmaproof.spec.power.memory import Endian, from_memory, load, store

EMULATORS = {Endian.LITTLE: "qemu-ppc64le", Endian.BIG: "qemu-ppc64"}

Printed = dict[str, NDArray[np.uint8]]

COUNTING = np.arange(32, dtype=np.uint8)
"""What the program loads and stores."""

ARGUMENTS = np.arange(64, dtype=np.uint8).reshape(4, 16)
"""What it hands to the built-ins that build accumulators and pairs, in memory order."""


@pytest.fixture(scope="module", params=Endian)
def endian(request: pytest.FixtureRequest) -> Endian:
    chosen: Endian = request.param
    return chosen


@pytest.fixture(scope="module")
def printed(endian: Endian, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    executable = tmp_path_factory.mktemp(endian) / "power_memory"
    compile_for_power10("power_memory.c", executable, "-ffreestanding", "-nostdlib", f"-m{endian}-endian")
    lines = run_on_power10(executable, emulator=EMULATORS[endian]).decode().splitlines()
    pairs = (line.partition("=") for line in lines)
    return {name: np.frombuffer(bytes.fromhex(data), np.uint8) for name, _, data in pairs}


@pytest.fixture
def builtins(endian: Endian) -> Builtins:
    return Builtins(ALGEBRA, endian)


@pytest.mark.parametrize(("transfer", "registers"), [("lxv", 1), ("lxvx", 1), ("lxvp", 2), ("lxvpx", 2)])
def test_loads_and_stores(printed: Printed, endian: Endian, transfer: str, registers: int) -> None:
    counting = COUNTING[: 16 * registers]
    np.testing.assert_array_equal(load(counting, endian).ravel(), printed[f"load {transfer}"])
    np.testing.assert_array_equal(
        store(counting.reshape(registers, 16), endian), printed[f"store st{transfer[1:]}"]
    )


def test_the_transfers_of_the_oracle_keep_the_order_of_bytes(printed: Printed) -> None:
    np.testing.assert_array_equal(printed["load lxvb16x"], COUNTING[:16])
    np.testing.assert_array_equal(printed["store stxvb16x"], COUNTING[:16])


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("how", ["assemble", "build"])
def test_what_is_built_is_disassembled(printed: Printed, builtins: Builtins, how: str, count: int) -> None:
    vectors = [builtins.load_vector(argument) for argument in ARGUMENTS[:count]]
    group = getattr(builtins, how)(*vectors)
    observed = printed[f"{how}_{'acc' if count == 4 else 'pair'}"]
    np.testing.assert_array_equal(builtins.disassemble(group), observed)


def test_xxsetaccz(printed: Printed, builtins: Builtins) -> None:
    np.testing.assert_array_equal(builtins.disassemble(builtins.set_to_zero()), printed["xxsetaccz"])


class Call(NamedTuple):
    """A rank-k update built-in the program called.

    Attributes
    ----------
    name : str
        Without ``__builtin_mma_``.
    masks : tuple of int
        XMSK, YMSK, PMSK of a ``pm`` built-in.
    made_by : str
        What made the accumulator, or the pair of an f64 operand; empty when nothing did.
    result : array (64,)
        The disassembled accumulator.
    """

    name: str
    masks: tuple[int, ...]
    made_by: str
    result: NDArray[np.uint8]

    @property
    def family(self) -> Family:
        return UPDATES[self.name.removeprefix("pm")].family


def calls(printed: Printed, accumulates: bool) -> Iterator[Call]:
    for label, result in printed.items():
        if match := re.fullmatch(r"(\w+)\((.*)\) ?(\w*)", label):
            name, masks, made_by = match.groups()
            if name.endswith("pp") == accumulates:
                yield Call(name, tuple(int(mask) for mask in masks.split(",") if mask), made_by, result)


def left_operand(builtins: Builtins, made_by: str, x: NDArray[np.uint8]) -> NDArray[np.uint8]:
    halves = [builtins.load_vector(half) for half in x.reshape(-1, 16)]
    match made_by:
        case "lxvp":
            return builtins.load_pair(x)
        case "build_pair":
            return builtins.build(*halves)
        case "assemble_pair":
            return builtins.assemble(*halves)
        case _:
            (vector,) = halves
            return vector


def test_products(printed: Printed, builtins: Builtins) -> None:
    families = set()
    for call in calls(printed, accumulates=False):
        families.add(call.family)
        x, y = printed[f"{call.family.x} x"], printed[f"{call.family.y} y"]
        operand = left_operand(builtins, call.made_by, x)
        acc = builtins.rank_k_update(call.name, None, operand, builtins.load_vector(y), *call.masks)
        np.testing.assert_array_equal(builtins.disassemble(acc), call.result, err_msg=str(call))
        assert call.result.any(), f"{call} can't tell one product from another"
    assert families == set(FAMILIES)


def test_which_part_of_an_accumulator_masks_keep(printed: Printed, builtins: Builtins) -> None:
    vectors = [builtins.load_vector(argument) for argument in ARGUMENTS]
    kept = list(calls(printed, accumulates=True))
    for call in kept:
        acc = getattr(builtins, call.made_by.removesuffix("_acc"))(*vectors)
        acc = builtins.rank_k_update(call.name, acc, vectors[0], vectors[0], *call.masks)
        np.testing.assert_array_equal(builtins.disassemble(acc), call.result, err_msg=str(call))
    assert {call.made_by for call in kept} == {"assemble_acc", "build_acc"}


def values_in_memory(data: NDArray[np.uint8], fmt: Format, endian: Endian) -> NDArray[np.float64]:
    encodings = from_memory(ALGEBRA, data, fmt, endian)
    if isinstance(fmt, IntegerFormat):
        return ALGEBRA.integer(encodings, fmt).astype(np.float64)
    return np.ascontiguousarray(encodings).view(numpy_type(fmt)).astype(np.float64)


def test_matrices_look_natural_in_memory_and_masks_reversed(printed: Printed, endian: Endian) -> None:
    """r[i][j] = sum_p x[i][p] * y[j][p] for C arrays; index 0 is, little-endian, a mask's bit of value 1."""
    for call in calls(printed, accumulates=False):
        if call.made_by == "assemble_pair":
            continue  # swaps the halves of x on little-endian
        family = call.family
        widths = (4, family.columns, family.rank)
        masks = (*call.masks, *((1 << width) - 1 for width in widths[len(call.masks) :]))
        enabled = [
            np.array([mask >> (i if endian is Endian.LITTLE else width - 1 - i) & 1 for i in range(width)])
            for mask, width in zip(masks, widths, strict=True)
        ]
        rows, columns, products = enabled
        x = values_in_memory(printed[f"{family.x} x"], family.x, endian).reshape(4, family.rank)
        y = values_in_memory(printed[f"{family.y} y"], family.y, endian).reshape(family.columns, family.rank)
        result = values_in_memory(call.result, family.result, endian).reshape(4, family.columns)
        expected = (x * products) @ y.T * rows[:, None] * columns
        np.testing.assert_array_equal(result, expected, err_msg=str(call))
