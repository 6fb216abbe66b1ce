"""The inner kernels of Debian's OpenBLAS for POWER10, as they stand in its shared library."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from power_kernels import SOURCES, messages
from power_oracle import compile_for_power10
from required_tools import required_tool

from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.machine.array_memory import elements_in, inputs_of, memories
from mmaproof.refinement.machine.front_end import list_candidates
from mmaproof.refinement.power.front_end import read_kernel
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import Verification, verify

LIBRARY = "MMAPROOF_OPENBLAS"
"""Names the variable with the file's path: of Debian's package libopenblas0-pthread for ppc64el."""

KERNELS = {"dgemm": ("f64", "f64", 8), "sgemm": ("f32", "f32", 16), "sbgemm": ("bf16", "f32", 16)}
"""Types of the operands and the result, and how many rows the widest panel has."""

TYPES = {"f64": np.float64, "f32": np.float32, "bf16": ml_dtypes.bfloat16}

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


def written(name: str, m: int, n: int, k: int, folder: Path) -> Path:
    operand, result, _ = KERNELS[name]
    path, reference = folder / "contract.toml", SOURCES / "packed_panels.py"
    sizes = {"m": m, "n": n, "k": k, "ldc": m + 1}
    text = CONTRACT.format(name=name, operand=operand, result=result, reference=reference, **sizes)
    path.write_text(text)
    return path


def verified(library: Path, name: str, m: int, n: int, k: int, folder: Path) -> Verification:
    return verify(library, written(name, m, n, k, folder))


def test_the_kernels_are_among_the_candidates(library: Path) -> None:
    found = {candidate.name: candidate for candidate in list_candidates(library)}
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
    ("side", "first", "last"), [("LN", 2, 20), ("LT", 0, None), ("RN", 0, 4), ("RT", 0, 20)]
)
@pytest.mark.parametrize(("name", "rows"), [("dgemm", 8), pytest.param("sgemm", 16, marks=pytest.mark.sweep)])
def test_triangular_kernels_leave_out_what_is_zero(
    name: str, rows: int, side: str, first: int, last: int | None, library: Path, tmp_path: Path
) -> None:
    """Of one panel: products from the offset on, up to it and the panel, or up to the columns."""
    path = written(name, rows, 4, 20, tmp_path)
    text = path.read_text().replace(f"{name}_kernel", f"{name[0]}trmm_kernel_{side}")
    text = text.replace('shape = ["m * k"]', f"shape = [20, {rows}]").replace('["n * k"]', "[20, 4]")
    offset = f'[[param]]\nname = "offset"\ntype = "s64"\nvalue = {2 if side[0] == "L" else 0}\n'
    start = text[: text.index("[ensures]")].replace('access = "inout"', 'access = "out"') + offset
    sums = "C[j, i] = alpha * sum(p < {count}, A[p + {first}, i] * B[p + {first}, j])"
    end = 2 + rows if last is None else last
    for wrong in (0, 1):
        formula = sums.format(count=end - first - wrong, first=first)
        path.write_text(f'{start}\n[ensures]\nformula = "{formula}"\n')
        found = verify(library, path)
        assert found.result.verdict == ("refuted" if wrong else "verified"), messages(found)


@pytest.mark.parametrize("name", KERNELS)
def test_the_symbolic_result_is_what_qemu_computes(name: str, library: Path, tmp_path: Path) -> None:
    m, n, k = 15, 7, 5
    ldc = m + 1
    instance = next(iter(read_contract(written(name, m, n, k, tmp_path)).instances()))
    store, rng = TermStore(), np.random.default_rng(3)
    function = read_kernel(library, f"{name}_kernel_POWER10", None)
    outcome = function.run(instance, store, inputs_of(store, instance))
    assert outcome.complete and not outcome.findings
    operand, result, _ = KERNELS[name]
    alpha = np.float32(rng.standard_normal())
    a, b = (rng.standard_normal(count).astype(TYPES[operand]) for count in (m * k, n * k))
    c = rng.standard_normal((n, ldc)).astype(TYPES[result])
    words = {
        each: array.reshape(-1).view(f"u{array.itemsize}")
        for each, array in (("A", a), ("B", b), ("C", np.ascontiguousarray(c[:, :m])))
    }
    words["alpha"] = np.array([alpha.astype(TYPES[result])]).view(f"u{c.itemsize}")
    written_whole, terms = elements_in(store, memories(instance)["C"], outcome.arrays["C"].lanes)
    assert written_whole.all()
    computed = Assignment(store, words).values(terms)

    program = compile_for_power10("power_library.c", tmp_path / "driver")
    sizes = (m, n, k, ldc, a.nbytes, b.nbytes, c.nbytes)
    qemu = required_tool("qemu-ppc64le", package="qemu-user")
    command = [qemu, "-cpu", "power10", program, library, f"{function.address:#x}", *map(str, sizes)]
    data = np.float64(alpha).tobytes() + a.tobytes() + b.tobytes() + c.tobytes()
    after = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    found = np.frombuffer(after, dtype=f"u{c.itemsize}").reshape(n, ldc)
    assert (found[:, :m].reshape(-1) == computed).all()
    assert (found[:, m:] == c.view(f"u{c.itemsize}")[:, m:]).all()


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
    first = next(
        candidate for candidate in list_candidates(library) if candidate.name == f"{name}_kernel_POWER10"
    )
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
    assert "wrong-value" in {str(finding.kind) for finding in found.result.findings}
