"""Results that the Power ISA leaves undefined.

Of a NaN that is computed the ISA states which it is; `verify` does not model that, and compares NaNs as such.
"""

from __future__ import annotations

from ..open_results import OpenResult

HIGH_WORD = OpenResult(
    "the high word of a result of 32 bits",
    ("mulhw", "mulhwu", "divw", "divwu", "modsw", "moduw", "fctiw"),
    "bits 0 to 31 of the register",
    "Power ISA 3.1 Book I, the descriptions of these instructions: undefined",
    undefined=True,
)
REGISTER_BYTES = OpenResult(
    "bytes of a register that an instruction or a call leaves undefined",
    ("lfd", "lxsd", "lxssp", "scalar floating-point arithmetic", "bl"),
    "doubleword 1 of the register; what a called function need not restore",
    "Power ISA 3.1 Book I, Vector-Scalar Registers; ELFv2 ABI, Register Usage",
    undefined=True,
)
QUOTIENT = OpenResult(
    "a quotient by zero, or one that overflows",
    ("divw", "divwu", "divd", "divdu", "modsw", "moduw", "modsd", "modud"),
    "all bits; `verify` ends there (`unsupported`)",
    "Power ISA 3.1 Book I, the descriptions of these instructions: undefined",
    undefined=True,
)
UNPRIMED = OpenResult(
    "an accumulator that is not primed",
    ("xvf32gerpp", "xxmfacc", "xvi8ger4pp"),
    "all bits; a finding of its own (`accumulator-state`)",
    "Power ISA 3.1 Book I, VSX Matrix-Multiply Assist: undefined",
    undefined=True,
)
UNWRITTEN_MEMORY = OpenResult(
    "memory that was never written",
    ("lwz", "ld", "lxv"),
    "the bytes concerned: of the stack, and of arrays that are only written",
    "ELFv2 ABI, The Stack Frame, which says of no byte what it holds at first",
    undefined=True,
)

OPEN_RESULTS = (HIGH_WORD, REGISTER_BYTES, QUOTIENT, UNPRIMED, UNWRITTEN_MEMORY)
"""All of them."""
