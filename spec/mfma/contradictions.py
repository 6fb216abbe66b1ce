"""Where AMD's manual, AMD's tools and LLVM contradict each other about MFMA.

"Manual" is the Instruction Set Architecture of CDNA4, chapter 7; CDNA3's is reported to say the same.
"Calculator" is AMD's matrix instruction calculator 1.3.2. llvm-mc was run, in releases 14 to 22.
"""

from __future__ import annotations

from ..legality import Contradiction


def _point(name: str, side: str, source: str, *claims: tuple[str, str]) -> Contradiction:
    return Contradiction(name, claims, side, source)


BROADCAST = _point(
    "broadcast",
    "open point broadcast: neighbours unless chosen otherwise (lanes)",
    "the two differ wherever 0 < cbsz and 2^cbsz < blocks; only hardware decides",
    ("manual, cbsz and abid", "A comes from lane l mod S + S*abid, S = 64 / 2^cbsz"),
    ("calculator, HIP documentation, AMD lab notes", "neighbouring blocks share one block of A"),
)
DOUBLE_LAYOUT = _point(
    "f64-4x4x4-layout",
    "the calculator's: 48 of 64 elements are elsewhere than the manual's formula says",
    "read; the example computes a product that is right only so",
    ("manual, formula of C and D", "lane = 16*block + 4*row + column"),
    ("calculator, AMD lab notes' example", "lane = 16*row + 4*block + column"),
)
CALCULATOR_OPCODES = _point(
    "calculator-opcodes",
    "llvm-mc's: two instructions of a target can't share an opcode",
    "measured",
    ("calculator", "opcode 84 for i32_16x16x16i8, i32_32x32x16_i8 and i32_16x16x32_i8"),
    ("llvm-mc", "opcodes 85, 86 and 87; the other 75 are the same"),
)
OPCODE_WIDTH = _point(
    "opcode-width",
    "opcodes have 7 bits",
    "measured",
    ("calculator, README", "the top bit of a VOP3P-MAI opcode is always 1"),
    ("llvm-mc", "xf32 is 0x3e and 0x3f, products of gfx950 are 0x35 to 0x38"),
)
ALIGNMENT = _point(
    "alignment",
    "even",
    "measured with 8,496 lines",
    ("manual 7.1", "a tuple's first register is aligned to the operand's size"),
    ("manual, table of rules; llvm-mc", "it is even"),
)
DENORMALS = _point(
    "denormals",
    "open point subnormals",
    "read",
    ("manual, table of rules", "MODE is ignored"),
    ("manual, numerics; LLVM", "A and B of f32 follow MODE's denormal control"),
)
CLAMPING = _point(
    "clamping",
    "open point integer-overflow; of MODE.FP16_OVFL it is assumed that it is 0",
    "read, and measured for llvm-mc",
    ("manual, table of rules", "f32 and i32 results are clamped where MODE.FP16_OVFL is 1"),
    ("manual, numerics", "integer products ignore MODE"),
    ("llvm-mc", "there is no clamp modifier"),
)
EXCEPTIONS = _point(
    "exceptions",
    "no instruction is said to raise any",
    "read",
    ("manual, table of rules", "floating-point exceptions are not supported"),
    ("manual, later", "f64 products raise them"),
    ("LLVM", "none"),
)
XF32 = _point(
    "xf32",
    "open point xf32: truncated unless chosen otherwise (rounded)",
    "read; MMA-Sim's authors compared theirs with hardware",
    ("manual", "operands are rounded to 10 fraction bits"),
    ("MMA-Sim (arXiv 2511.10909)", "the low 13 bits are dropped"),
)
LANE_PERMUTATION = _point(
    "blgp-one-block",
    "legal, with a note; what it computes is not known, so it is not executed",
    "read, and measured for llvm-mc",
    ("calculator", "on CDNA3 no blgp but for f32 and for several blocks; none for f64"),
    ("manual; llvm-mc", "no such limit"),
)
LENIENT_ASSEMBLER = _point(
    "lenient-assembler",
    "the manual's",
    "measured",
    ("llvm-mc", "takes any cbsz and abid that fit their fields"),
    ("llvm-mc", "takes src_scc, src_vccz or src_shared_base for C, on gfx908 too"),
    ("manual", "2^cbsz is at most the number of blocks, abid below 2^cbsz; C is a register or constant"),
)

CONTRADICTIONS = tuple(value for value in list(vars().values()) if isinstance(value, Contradiction))
"""Every contradiction."""
