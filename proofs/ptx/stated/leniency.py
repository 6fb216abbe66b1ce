"""What the manual excludes and ptxas takes all the same: how it is named (examples: ``leniency.tsv``)."""

from __future__ import annotations

RULES = {
    "shape": "fp8-sparse-m16n8k32",
    "multiplicand-types": "mixed-signedness fp8-sparse-m16n8k32 tf32-m16n8k16 bf16-m8n8k4",
    "element-type": "wmma-integer-shapes-f32",
    "kind": "f8f6f4-m16n8k16 mx-kinds-without-scale",
    "block-scale": "mx-kinds-without-scale",
    "layout": "layout-of-moves",
    "rounding": "mma-f64-rounding wmma-f64-rounding-position",
    "bit-operation": "b1-operation-position bit-operation-on-4-bit-integers",
    "metadata-variant": "fp8-sparse-f16-accumulators",
    "transposition": "stmatrix-m16n8-trans",
    "count": "x8",
    "target-version": "sm-88-version",
    "target": "f8f6f4-targets",
    "ptx-version": "scale-vec-4x-ue8m0 f8f6f4-targets",
    "operand-sort": "braced-register",
    "braces": "braced-register",
    "register-count": "fp8-m16n8k16-b wmma-f64-fragment example-operands",
    "register-class": "unchecked-register-classes",
    "constant": "unchecked-constants",
    "sink": "refused-sink",
    "selector": "f16-sparsity-selector",
    "stride": "wmma-stride",
}
"""The contradictions on each rule, of those that have any."""

_MANUAL, _BOTH = ("manual", "ptxas"), ("manual", "manual", "ptxas")

SIDES = {
    **dict.fromkeys((
        "f16-sparsity-selector", "f8f6f4-m16n8k16", "mx-kinds-without-scale", "bf16-m8n8k4", "f8f6f4-targets",
        "bit-operation-on-4-bit-integers", "x8", "wmma-integer-shapes-f32", "wmma-f64-rounding-position",
        "wmma-stride", "tf32-m16n8k16", "layout-of-moves", "unchecked-constants", "refused-sink",
        "repeated-modifier",
    ), _MANUAL),
    **dict.fromkeys((
        "mixed-signedness", "fp8-sparse-m16n8k32", "fp8-sparse-f16-accumulators", "stmatrix-m16n8-trans",
        "wmma-f64-fragment", "mma-f64-rounding", "b1-operation-position", "example-operands",
    ), _BOTH),
    **dict.fromkeys(("ldmatrix-m16n16-addresses", "wmma-default-stride"), ("manual", "manual")),
    "m16n8k256-a-columns": ("manual", "the bijection", "CuTe"),
    "fp8-m16n8k16-b": ("manual", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "scale-vec-4x-ue8m0": ("manual", "manual", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "unchecked-register-classes": ("manual", "ptxas", "ptxas", "ptxas"),
    "braced-register": ("manual", "ptxas", "inline assembly of CUTLASS and others", "ptxas"),
    "sm-88-version": ("manual", "LLVM", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "wmma-line-alignment": ("PTX manual", "CUDA C++ guide"),
    "fp8-accumulation-on-hopper": ("MMA-Sim", "machine code by ptxas for sm_90"),
}  # fmt: skip
"""Who contradicts whom, up to the place; no two say the same."""

SHOWN_ON = {"f8f6f4-targets": ("sm_100a", "8.6"), "sm-88-version": ("sm_88", "7.8")}
"""The least target and version that takes an example, where the newest does not show it."""

_PAIR = r"\.(e4m3|e5m2)\.(e4m3|e5m2)\."
_BITS = r"\.(s4|u4)\.(s4|u4)\."

KINDS_OF_EXCEPTIONS = (
    # contradiction, rules that it explains, opcode with its modifiers and types, targets
    ("f16-sparsity-selector", "selector", r"mma\.sp(?=.*\.m16n8k32\.).*\.f32\.f16\.f16\.f32\.$", ""),
    ("f8f6f4-m16n8k16", "kind", rf"mma(?=.*\.m16n8k16\.)(?=.*::f8f6f4\.).*{_PAIR}", ""),
    ("mx-kinds-without-scale",
     "kind block-scale scale-type accumulator-types operand-count register-count register-class "
     "ptx-version target", rf"(?!.*block_scale)mma(?=.*::mx).*{_PAIR}", ""),
    ("f8f6f4-targets", "target ptx-version kind", rf"mma(?=.*::f8f6f4\.).*{_PAIR}", "sm_1(00|01|03|10)[af]"),
    ("bf16-m8n8k4", "multiplicand-types register-class",
     r"w?mma(?=.*\.m8n8k4\.).*\.f32\.bf16\.bf16\.f32\.$", ""),
    ("bit-operation-on-4-bit-integers", "bit-operation popc", rf"mma\.(?!sp).*{_BITS}", ""),
    ("fp8-m16n8k16-b", "register-count", rf"mma(?=.*\.m16n8k16\.).*{_PAIR}", ""),
    ("x8", "count", r"(ld|st)matrix.*\.x8", ""),
    ("layout-of-moves", "layout", r"(ld|st|mov)matrix", ""),
    ("wmma-integer-shapes-f32", "element-type register-class",
     r"wmma\.(load\.c|store\.d)(?=.*\.m8n8k(32|128)\.).*\.f32\.$", ""),
    ("wmma-stride", "stride", "", ""),
    ("unchecked-register-classes", "register-class", "SIZES", ""),
    ("unchecked-register-classes", "register-class", r".*\.block_scale", ""),
    ("unchecked-register-classes", "register-class", "NARROW", ""),
    ("unchecked-constants", "constant", "", ""),
    ("unchecked-constants", "operand-sort", r"(?!ldmatrix|wmma\.load)", ""),
    ("sm-88-version", "target-version", "", "sm_88"),
)  # fmt: skip
"""What ptxas takes although a rule excludes it. SIZES: registers have as many bits as they must; NARROW: a
register of 8 or 16 bits is an address or near one, in a state space that is spelled."""

REFUSED_BRACES = (
    # types of A, whether metadata are ordered too, targets
    ("s4 u4", True, ("sm_90", "sm_90a", "sm_100", "sm_101", "sm_103", "sm_110", "sm_120", "sm_121")),
    ("f16 s8 u8", False, ("sm_100", "sm_101", "sm_103", "sm_110", "sm_120", "sm_121")),
    ("e4m3 e5m2", True, ("sm_90", "sm_90a", "sm_100", "sm_101", "sm_103", "sm_110")),
)
"""Sparse products without a kind whose metadata ptxas takes without braces only; also with a and f."""
