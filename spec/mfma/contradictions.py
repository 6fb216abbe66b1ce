"""Where AMD's manual, AMD's tools and LLVM contradict each other about MFMA.

"Manual" is the Instruction Set Architecture of CDNA4, chapter 7; CDNA3's is reported to say the same.
"Calculator" is AMD's matrix instruction calculator 1.3.2. llvm-mc was run, in releases 14 to 22.
"""

from __future__ import annotations

from ..legality import Contradiction

BROADCAST = Contradiction(
    "broadcast",
    (
        ("manual, cbsz and abid", "A comes from lane l mod S + S*abid, S = 64 / 2^cbsz"),
        ("calculator, HIP documentation, AMD lab notes", "neighbouring blocks share one block of A"),
    ),
    "open point broadcast: neighbours unless chosen otherwise (lanes)",
    "the two differ wherever 0 < cbsz and 2^cbsz < blocks; only hardware decides",
)
DOUBLE_LAYOUT = Contradiction(
    "f64-4x4x4-layout",
    (
        ("manual, formula of C and D", "lane = 16*block + 4*row + column"),
        ("calculator, AMD lab notes' example", "lane = 16*row + 4*block + column"),
    ),
    "the calculator's: 48 of 64 elements are elsewhere than the manual's formula says",
    "read; the example computes a product that is right only so",
)
CALCULATOR_OPCODES = Contradiction(
    "calculator-opcodes",
    (
        ("calculator", "opcode 84 for i32_16x16x16i8, i32_32x32x16_i8 and i32_16x16x32_i8"),
        ("llvm-mc", "opcodes 85, 86 and 87; the other 75 are the same"),
    ),
    "llvm-mc's: two instructions of a target can't share an opcode",
    "measured",
)
OPCODE_WIDTH = Contradiction(
    "opcode-width",
    (
        ("calculator, README", "the top bit of a VOP3P-MAI opcode is always 1"),
        ("llvm-mc", "xf32 is 0x3e and 0x3f, products of gfx950 are 0x35 to 0x38"),
    ),
    "opcodes have 7 bits",
    "measured",
)
ALIGNMENT = Contradiction(
    "alignment",
    (
        ("manual 7.1", "a tuple's first register is aligned to the operand's size"),
        ("manual, table of rules; llvm-mc", "it is even"),
    ),
    "even",
    "measured with 8,496 lines",
)
DENORMALS = Contradiction(
    "denormals",
    (
        ("manual, table of rules", "MODE is ignored"),
        ("manual, numerics; LLVM", "A and B of f32 follow MODE's denormal control"),
    ),
    "open point subnormals",
    "read",
)
CLAMPING = Contradiction(
    "clamping",
    (
        ("manual, table of rules", "f32 and i32 results are clamped where MODE.FP16_OVFL is 1"),
        ("manual, numerics", "integer products ignore MODE"),
        ("llvm-mc", "there is no clamp modifier"),
    ),
    "open point integer-overflow; of MODE.FP16_OVFL it is assumed that it is 0",
    "read, and measured for llvm-mc",
)
EXCEPTIONS = Contradiction(
    "exceptions",
    (
        ("manual, table of rules", "floating-point exceptions are not supported"),
        ("manual, later", "f64 products raise them"),
        ("LLVM", "none"),
    ),
    "no instruction is said to raise any",
    "read",
)
XF32 = Contradiction(
    "xf32",
    (
        ("manual", "operands are rounded to 10 fraction bits"),
        ("MMA-Sim (arXiv 2511.10909)", "the low 13 bits are dropped"),
    ),
    "open point xf32: truncated unless chosen otherwise (rounded)",
    "read; MMA-Sim's authors compared theirs with hardware",
)
LANE_PERMUTATION = Contradiction(
    "blgp-one-block",
    (
        ("calculator", "on CDNA3 no blgp but for f32 and for several blocks; none for f64"),
        ("manual; llvm-mc", "no such limit"),
    ),
    "legal, with a note; what it computes is not known, so it is not executed",
    "read, and measured for llvm-mc",
)
LENIENT_ASSEMBLER = Contradiction(
    "lenient-assembler",
    (
        ("llvm-mc", "takes any cbsz and abid that fit their fields"),
        ("llvm-mc", "takes src_scc, src_vccz or src_shared_base for C, on gfx908 too"),
        ("manual", "2^cbsz is at most the number of blocks, abid below 2^cbsz; C is a register or constant"),
    ),
    "the manual's",
    "measured",
)

CONTRADICTIONS = tuple(value for value in list(vars().values()) if isinstance(value, Contradiction))
"""Every contradiction."""
