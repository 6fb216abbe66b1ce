"""Memory order and GCC's built-ins, as GCC compiles them and QEMU runs them, in both byte orders."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from mmaproof.spec.formats import S4, FloatFormat, Format, IntegerFormat, numpy_type
from mmaproof.spec.power.catalogue import UPDATES, Family
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.encoding import ByteOrder
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.rounding import Rounding
from numpy.typing import NDArray
from power_oracle import compile_for_power10, run_on_power10
from power_vectors import ALGEBRA

ORDERS: tuple[ByteOrder, ...] = get_args(ByteOrder)
EMULATORS = {"little": "qemu-ppc64le", "big": "qemu-ppc64"}

Printed = dict[str, bytes]

REVERSED_UNITS = {
    "lxv": 16, "lxvx": 16, "lxvp": 32, "lxvpx": 32, "lxvd2x": 8, "lxvw4x": 4, "lxvh8x": 2, "lxvb16x": 1,
}  # fmt: skip
"""Bytes of the units of a load, each reversed between memory and register where bytes are little-endian.

The image of a pair is the even register followed by the odd one. Every store undoes its load.
"""

ARGUMENTS = [bytes(range(16 * n, 16 * n + 16)) for n in range(4)]
"""What the program hands to the building built-ins."""

BUILT_IN_MEMORY = {
    "assemble_acc": {"little": (3, 2, 1, 0), "big": (0, 1, 2, 3)},
    "build_acc": {"little": (0, 1, 2, 3), "big": (0, 1, 2, 3)},
    "assemble_pair": {"little": (1, 0), "big": (0, 1)},
    "build_pair": {"little": (0, 1), "big": (0, 1)},
}
"""Which argument disassembling puts where, in memory order."""

BUILT_IN_ROWS = {
    "assemble_acc": {"little": (0, 1, 2, 3), "big": (0, 1, 2, 3)},
    "build_acc": {"little": (3, 2, 1, 0), "big": (0, 1, 2, 3)},
}
"""Which argument becomes which row of the accumulator, in ISA order."""


@pytest.fixture(scope="module", params=ORDERS)
def order(request: pytest.FixtureRequest) -> ByteOrder:
    chosen: ByteOrder = request.param
    return chosen


@pytest.fixture(scope="module")
def printed(order: ByteOrder, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    executable = tmp_path_factory.mktemp(order) / "power_memory"
    compile_for_power10("power_memory.c", executable, "-ffreestanding", "-nostdlib", f"-m{order}-endian")
    lines = run_on_power10(executable, emulator=EMULATORS[order]).decode().splitlines()
    return {name: bytes.fromhex(data) for name, _, data in (line.partition("=") for line in lines)}


def reverse_units(data: bytes, unit: int) -> bytes:
    return b"".join(data[at : at + unit][::-1] for at in range(0, len(data), unit))


@pytest.mark.parametrize("load", REVERSED_UNITS)
def test_loads_and_stores(printed: Printed, order: ByteOrder, load: str) -> None:
    unit = REVERSED_UNITS[load]
    counting = bytes(range(max(unit, 16)))
    expected = reverse_units(counting, unit) if order == "little" else counting
    assert printed[f"load {load}"] == expected
    assert printed[f"store st{load[1:]}"] == expected


@pytest.mark.parametrize("built_in", BUILT_IN_MEMORY)
def test_what_is_built_and_disassembled(printed: Printed, order: ByteOrder, built_in: str) -> None:
    expected = b"".join(ARGUMENTS[n] for n in BUILT_IN_MEMORY[built_in][order])
    assert printed[built_in] == expected


@pytest.mark.parametrize("built_in", BUILT_IN_ROWS)
@pytest.mark.parametrize("row", [0, 1])
def test_which_argument_is_which_row(printed: Printed, order: ByteOrder, built_in: str, row: int) -> None:
    kept = ARGUMENTS[BUILT_IN_ROWS[built_in][order][row]]
    place = 3 - row if order == "little" else row
    assert printed[f"{built_in} row {row}"] == bytes(16 * place) + kept + bytes(16 * (3 - place))


def test_column_0_of_the_accumulator_is_the_last_one_in_little_endian_memory(
    printed: Printed, order: ByteOrder
) -> None:
    column = slice(12, 16) if order == "little" else slice(0, 4)
    kept = b"".join(
        argument[column].rjust(16, b"\0") if order == "little" else argument[column].ljust(16, b"\0")
        for argument in ARGUMENTS
    )
    assert printed["build_acc column 0"] == kept


def test_xxsetaccz_clears_everything(printed: Printed) -> None:
    assert printed["xxsetaccz"] == bytes(64)


PRODUCTS = (
    "xvi4ger8", "pmxvi4ger8 15,15,1", "pmxvi4ger8 15,15,2", "pmxvi4ger8 4,2,128",
    "xvi8ger4", "pmxvi8ger4 15,15,8", "pmxvi8ger4 15,15,1", "pmxvi8ger4 1,4,6",
    "xvi16ger2", "pmxvi16ger2 3,5,2", "pmxvi16ger2 3,5,1",
    "xvbf16ger2", "pmxvbf16ger2 1,8,1", "xvf16ger2", "pmxvf16ger2 6,9,2",
    "xvf32ger", "pmxvf32ger 8,15", "pmxvf32ger 15,2",
    "xvf64ger", "xvf64ger of build_pair", "pmxvf64ger 8,1",
)  # fmt: skip
"""Products of arrays as C declares them; the masks are XMSK, YMSK, PMSK."""


def family_and_masks(product: str) -> tuple[Family, tuple[int, int, int]]:
    mnemonic, _, masks = product.removesuffix(" of build_pair").removeprefix("pm").partition(" ")
    family = UPDATES[mnemonic].family
    everything = (15, (1 << family.columns) - 1, (1 << family.rank) - 1)
    given = tuple(map(int, masks.split(","))) if masks else ()
    x_mask, y_mask, product_mask = (*given, *everything[len(given) :])
    return family, (x_mask, y_mask, product_mask)


@pytest.mark.parametrize("product", PRODUCTS)
def test_products_of_register_images(printed: Printed, order: ByteOrder, product: str) -> None:
    """Reversing all bytes of an operand, or of an accumulator, is the whole of the little-endian view."""
    family, masks = family_and_masks(product)

    def elements(data: bytes, fmt: Format, *shape: int) -> NDArray[np.unsignedinteger]:
        image = data[::-1] if order == "little" else data
        return ALGEBRA.unpack(np.frombuffer(image, np.uint8), fmt).reshape(shape)

    x = elements(printed[f"{family.x} x"], family.x, 4, family.rank)
    y = elements(printed[f"{family.y} y"], family.y, family.columns, family.rank)
    acc = elements(printed[product], family.result, 4, family.columns)
    widths = (4, family.columns, family.rank)
    live = Live(*(ALGEBRA.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))
    expected = rank_k_update(
        ALGEBRA, UPDATES[family.name], x, y, acc, live, Rounding.NEAREST_EVEN, Choices()
    )
    np.testing.assert_array_equal(acc, expected)
    assert expected.any()


def array_in_memory(data: bytes, fmt: IntegerFormat | FloatFormat, order: ByteOrder) -> NDArray[np.float64]:
    """Read a C array; the first of two nibbles is the low one where bytes are little-endian."""
    if fmt == S4:
        low, high = (np.frombuffer(data, np.uint8) >> shift & 15 for shift in (0, 4))
        nibbles = np.stack([low, high] if order == "little" else [high, low], axis=-1).ravel()
        return ALGEBRA.integer(nibbles, S4).astype(np.float64)
    encodings = np.frombuffer(data, fmt.storage.newbyteorder("<" if order == "little" else ">"))
    return encodings.astype(fmt.storage).view(numpy_type(fmt)).astype(np.float64)


@pytest.mark.parametrize("product", PRODUCTS)
def test_matrices_look_natural_in_memory_and_masks_reversed(
    printed: Printed, order: ByteOrder, product: str
) -> None:
    """r[i][j] = sum_p x[i][p] * y[j][p] in memory order; bit value 1 of a mask is memory index 0."""
    family, masks = family_and_masks(product)
    x = array_in_memory(printed[f"{family.x} x"], family.x, order).reshape(4, family.rank)
    y = array_in_memory(printed[f"{family.y} y"], family.y, order).reshape(family.columns, family.rank)
    result = array_in_memory(printed[product], family.result, order).reshape(4, family.columns)
    rows, columns, products = (
        np.array([mask >> (i if order == "little" else width - 1 - i) & 1 for i in range(width)])
        for mask, width in zip(masks, (4, family.columns, family.rank), strict=True)
    )
    np.testing.assert_array_equal(result, (x * products) @ y.T * rows[:, None] * columns)


def test_assemble_pair_swaps_the_halves_of_x_in_little_endian_memory(printed: Printed, order: ByteOrder) -> None:
    natural = printed["xvf64ger"]
    swapped = natural[32:] + natural[:32]
    assert printed["xvf64ger of assemble_pair"] == (swapped if order == "little" else natural)
