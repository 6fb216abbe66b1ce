"""What instructions become on targets, as disassembled, and the error of each step of the models.

The conditions are read from machine code by themselves: tests/conformance/test_stated_machine_code.py
compiles every product for every target that ptxas of CUDA 13.0 has, and compares. Not among these are sm_70
and sm_72 (`HMMA.884`, MMA-Sim). The errors of steps follow from MMA-Sim's fraction bits and products taken at
once: one unit for each term that is cut off, and one for the result.

Sources: ptxas of CUDA 13.0 with nvdisasm; MMA-Sim, arXiv 2511.10909; Higham, Accuracy and Stability of
Numerical Algorithms, section 2.2 (unit roundoffs).
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """The matrix instructions of one element of D: what they multiply, and how many products each.

    `notes` are of ``halves`` (products whose number has bit 1 come last), ``last`` (C is added to the end),
    ``ordered`` (metadata are put in order before), ``integers`` (other instructions, the same integers).
    """

    factors: str
    products: int
    instructions: int
    accumulator: str
    notes: tuple[str, ...] = ()


def _sizes(opcode: str, modifiers: frozenset[str]) -> tuple[str, int, int]:
    """Return the shape, its k, and the products of an element."""
    shape = next(each for each in modifiers if each[0] == "m" and each[1].isdigit())
    k = int(shape.rpartition("k")[2])
    return shape, k, k // 2 if opcode.startswith("mma.sp") else k


def _types(types: tuple[str, ...]) -> tuple[str, str, str, str]:
    """Return the types of D, A, B and C."""
    if len(types) == 2:
        return types[0], "f16", "f16", types[1]
    d, a, b, c = types[:4]
    return d, a, b, c


def code(opcode: str, modifiers: frozenset[str], types: tuple[str, ...], target: int) -> Code | None:
    """Return what an instruction becomes; None if no matrix instruction."""
    shape, k, count = _sizes(opcode, modifiers)
    unordered = opcode.startswith("mma.sp") and "ordered" not in opcode
    d, a, b, c = _types(types)
    if shape == "m8n8k4" and a == "f16":
        return Code("f16", 4, 1, "f16" if d == c == "f16" else "f32") if target < 80 else None
    if a in ("s8", "u8", "s4", "u4", "b1"):
        since = {"s4": 90, "u4": 90, "b1": 90 if "xor" in modifiers else 100}.get(a, 1000)
        notes = ("integers",) if target >= since else ("ordered",) if unordered and target >= 100 else ()
        return Code(a, count, 1, "s32", notes)
    accumulator = d if d == c else "f32"
    if a == "f64":
        return Code(a, 4, k // 4, "f64") if target >= 100 else Code(a, k, 1, "f64")
    if {a, b} <= {"e4m3", "e5m2"} and not any("kind" in each for each in modifiers) and 90 <= target < 120:
        return Code("f16", count // 2, 2, accumulator, ("halves", "last"))
    if opcode == "wmma.mma":
        taken = 4 if a == "tf32" or target < 75 else 8 if target < 80 else k
        return Code(a, taken, k // taken, accumulator)
    return Code(a, count, 1, accumulator, ("ordered",) if unordered and a == "f16" and target >= 100 else ())


def told(opcode: str, modifiers: frozenset[str], types: tuple[str, ...], target: int) -> str | None:
    """Return what is said of it: where it differs from one matrix instruction of the form's own types."""
    found = code(opcode, modifiers, types, target)
    if found is None:
        return None
    shape, _, count = _sizes(opcode, modifiers)
    d, a, _, c = _types(types)
    quad_pairs = shape == "m8n8k4" and a == "f16"
    if found == Code(a, count, 1, d) and (c == d or quad_pairs):
        return "native"
    interleaved = " interleaved" if "halves" in found.notes else ""
    said = {
        "integer emulation": "integers" in found.notes,
        "metadata reordered": "ordered" in found.notes,
        f"widened to {found.factors}": found.factors != a,
        f"{found.instructions} of k{found.products}{interleaved}": found.instructions > 1,
        "C added last": "last" in found.notes,
        f"C widened to {found.accumulator}": found.accumulator != c and "last" not in found.notes,
        f"D rounded from {found.accumulator}": found.accumulator != d,
    }
    return ", ".join(text for text, holds in said.items() if holds)


_HALF, _HALF_F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f16"
_FP8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
_DOUBLE = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64"
_SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"

_MX = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
_NVF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"

STEPS = (
    # instruction, model, what a product goes through, what C goes through, whether zeros count
    (_HALF, "sequential", ("2^-24",) * 16, ("2^-24",) * 16, False),
    (f"mma.sync.aligned.{_HALF_F16}", "sequential", ("2^-11",) * 16, ("2^-11",) * 16, False),
    (_DOUBLE, "hopper", ("2^-53",) * 8, ("2^-53",) * 8, False),
    (f"{_DOUBLE}.rz", "sequential", ("2^-52",) * 8, ("2^-52",) * 8, False),
    (_HALF, "unspecified", None, None, False),
    (_HALF, "turing", None, None, False),
    (_HALF, "ampere", ("8·2^-24 + 2^-23",) * 2, ("8·2^-24 + 2^-23",) * 2, False),
    (_HALF, "hopper", ("16·2^-25 + 2^-23",), ("16·2^-25 + 2^-23",), False),
    (f"mma.sync.aligned.{_HALF_F16}", "hopper", ("16·2^-25 + 2^-11",), ("16·2^-25 + 2^-11",), False),
    (_SPARSE, "ampere", ("8·2^-24 + 2^-23",), ("8·2^-24 + 2^-23",), False),
    ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", "volta", ("4·2^-23 + 2^-23",),
     ("4·2^-23 + 2^-23",), False),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "ampere", ("4·2^-24 + 2^-23",) * 2,
     ("4·2^-24 + 2^-23",) * 2, False),
    (_FP8, "ada", ("17·2^-13 + 2^-13",) * 2, ("17·2^-13 + 2^-13",) * 2, False),
    (_FP8, "hopper", ("16·2^-25 + 2^-23", "16·2^-25 + 2^-23", "2^-24"), ("2^-24",), False),
    # 4 groups of 16 products that are multiples of 2^-2
    (_MX, "blackwell", ("16·2^-35 + 2^-23",), ("16·2^-35 + 2^-23",), False),
    (_NVF4, "blackwell", ("16·2^-35 + 2^-23",), ("16·2^-35 + 2^-23",), False),
    (_FP8, "blackwell", ("32·2^-25 + 2^-23",), ("32·2^-25 + 2^-23",), False),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32", "turing", ("8·2^-24 + 2^-23",) * 2 + ("2^-11",),
     ("8·2^-24 + 2^-23",) * 2 + ("2^-11",), False),
    (_HALF, "hopper zero-products=factors", ("16·2^-25 + 2^-23",), ("16·2^-25 + 2^-23",), True),
)  # fmt: skip
"""The relative error of every rounding that a product of A and B, and C, goes through on its way to D; None
where nothing is known, or the unit has no such instruction."""
