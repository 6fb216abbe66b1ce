"""The inner kernels of Debian's OpenBLAS for POWER10, as they stand in its shared library."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from power_kernels import SOURCES, messages

from mmaproof.refinement.front_end import list_candidates
from mmaproof.refinement.verification import Verification, verify

LIBRARY = "MMAPROOF_OPENBLAS"
"""Names the variable with the file's path: of Debian's package libopenblas0-pthread for ppc64el."""

KERNELS = {"dgemm": ("f64", "f64", 8), "sgemm": ("f32", "f32", 16), "sbgemm": ("bf16", "f32", 16)}
"""Types of the operands and the result, and how many rows the widest panel has."""

CONTRACT = """
[kernel]
isa = "power"
entry = "{name}_kernel_POWER10"

[sizes]
m = {m}
n = {n}
k = {k}
ldc = {ldc}

[[param]]
name = "m"
type = "s64"
value = "m"

[[param]]
name = "n"
type = "s64"
value = "n"

[[param]]
name = "k"
type = "s64"
value = "k"

[[param]]
name = "alpha"
type = "{result}"

[[param]]
name = "A"
type = "{operand}"
shape = ["m * k"]

[[param]]
name = "B"
type = "{operand}"
shape = ["n * k"]

[[param]]
name = "C"
type = "{result}"
shape = ["n", "m"]
strides = ["ldc", 1]
access = "inout"

[[param]]
name = "ldc"
type = "s64"
value = "ldc"

[ensures]
reference = "{reference}:{name}"
"""


@pytest.fixture(scope="module")
def library() -> Path:
    given = os.environ.get(LIBRARY)
    if not given or not Path(given).is_file():
        pytest.skip(f"{LIBRARY} names no libopenblas for ppc64el (Debian package libopenblas0-pthread)")
    return Path(given)


def verified(library: Path, name: str, m: int, n: int, k: int, folder: Path) -> Verification:
    operand, result, _ = KERNELS[name]
    path, reference = folder / "contract.toml", SOURCES / "packed_panels.py"
    sizes = {"m": m, "n": n, "k": k, "ldc": m + 1}
    text = CONTRACT.format(name=name, operand=operand, result=result, reference=reference, **sizes)
    path.write_text(text)
    return verify(library, path)


def test_the_kernels_are_among_the_candidates(library: Path) -> None:
    found = {each.name: each for each in list_candidates(library)}
    for name, product in (("dgemm", "xvf64gerpp"), ("sgemm", "xvf32gerpp"), ("sbgemm", "xvbf16ger2pp")):
        assert found[f"{name}_kernel_POWER10"].products[product] > 8
    assert any(name.startswith("0x") for name in found)  # others have no names


@pytest.mark.parametrize(
    ("name", "m", "n", "k"),
    [
        ("dgemm", 16, 16, 5),
        ("dgemm", 15, 7, 2),
        ("sgemm", 31, 15, 2),
        ("sbgemm", 16, 8, 5),
        ("sbgemm", 15, 7, 3),
        *(
            pytest.param(name, m, n, k, marks=pytest.mark.sweep)
            for name, (_, _, rows) in KERNELS.items()
            for m, n, k in itertools.product(range(1, 2 * rows + 1), range(1, 17), (1, 2, 3, 17))
        ),
    ],
)
def test_kernels_compute_the_product_of_packed_panels(
    name: str, m: int, n: int, k: int, library: Path, tmp_path: Path
) -> None:
    found = verified(library, name, m, n, k, tmp_path)
    assert found.result.verdict == "verified", messages(found)


@pytest.mark.parametrize(
    ("name", "old", "new", "count"),
    [
        ("dgemm", 0xEC0001D0, 0xEC0005D0, 1),  # xvf64gerpn for xvf64gerpp
        ("sgemm", 0xEC0000D0, 0xEC0000D8, 2000),  # a stale accumulator: xvf32ger for xvf32gerpp
        ("dgemm", 0xEC0001D0, 0x60000000, 1),  # an update left out
    ],
)
def test_faults_in_its_machine_code_are_refuted(
    name: str, old: int, new: int, count: int, library: Path, tmp_path: Path
) -> None:
    """Replace the operation of the first matrix instructions of a kind."""
    first = next(each for each in list_candidates(library) if each.name == f"{name}_kernel_POWER10")
    data = bytearray(library.read_bytes())
    opcode = 0xFC0007F8
    for at in range(first.address, first.address + first.size, 4):  # this library is mapped as it lies
        word = int.from_bytes(data[at : at + 4], "little")
        if word & opcode == old:
            changed = new if new == 0x60000000 else word & ~opcode | new
            data[at : at + 4] = changed.to_bytes(4, "little")
            count -= 1
            if not count:
                break
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(data)
    rows = KERNELS[name][2]
    found = verified(damaged, name, 2 * rows, 16, 18, tmp_path)
    assert found.result.verdict == "refuted", messages(found)
    assert "wrong-value" in {str(each.kind) for each in found.result.findings}
