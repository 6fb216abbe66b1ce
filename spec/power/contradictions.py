"""Where documents, assemblers and emulators contradict each other about Power MMA.

"Measured" means run: GNU binutils 2.40, LLVM 14, GCC 12.2 and QEMU 7.2 (``-cpu power10``). "Paper" is
Moreira et al., "A matrix math facility for Power ISA processors", arXiv 2104.03142.
"""

from __future__ import annotations

from ..legality import Contradiction
from .choices import OPEN_POINTS


def _open(name: str) -> str:
    """Say which reading of an open point is the default."""
    point = next(point for point in OPEN_POINTS if point.name == name)
    others = ", ".join(option for option in point.option_names if option != point.default)
    return f"open point {name}: {point.default} unless chosen otherwise ({others})"


# -- operands and encodings
OVERLAP = Contradiction(
    "vsr-overlap",
    (
        ("paper, sections II-B2 and II-B3", "X and Y must not overlap the accumulator"),
        ("GNU as -mpower10", "error: VSR overlaps ACC operand"),
        ("GNU as -mfuture", "accepted: dense-math accumulators are registers of their own"),
        ("llvm-mc -mcpu=pwr10", "accepted without a word"),
        ("QEMU", "illegal instruction"),
    ),
    "illegal on targets whose accumulators are associated with VSRs; it has an encoding all the same",
    "measured; the paper and two of the three Power10 tools agree",
)
ODD_PAIR = Contradiction(
    "odd-pair",
    (
        ("GNU as and llvm-mc", "an odd first operand of xvf64ger* is an error"),
        ("GNU objdump", "prints a word with bit 15 set as xvf64ger* with an odd register"),
        ("llvm-objdump", "such a word is unknown"),
        ("QEMU", "such a word is an illegal instruction"),
    ),
    "the low bit of the pair's field is reserved: an odd pair is illegal and has no encoding",
    "measured",
)
RESERVED_BITS = Contradiction(
    "reserved-bits",
    (
        ("QEMU", "executes accumulator instructions with reserved bits set"),
        ("GNU objdump and llvm-objdump", "don't decode accumulator instructions with reserved bits set"),
        ("GNU objdump and llvm-objdump", "decode lxvpx with its reserved bit 31 set"),
    ),
    "a word with a reserved bit set is no instruction",
    "measured; no assembler emits such a word, and decoding stays the inverse of encoding",
)
YMSK_WIDTH = Contradiction(
    "f64-ymsk-width",
    (
        ("Go ppc64map, generated from the ISA's field diagrams", "at first gave pmxvf64ger* a 4-bit YMSK"),
        ("GNU as and llvm-mc", "YMSK of pmxvf64ger* is 2 bits, at bits 28-29 of the prefix"),
    ),
    "2 bits, one for each column of the 4 x 2 accumulator",
    "measured; Go commit 8ee3ab241ede reports the four bits as an error of the ISA document",
)
SPELLINGS = Contradiction(
    "dense-math-names",
    (
        ("GNU objdump", "prints dmxvf64gerpp, pmdmxvf64gerpp, dmsetaccz, dmxxmfacc, also with -Mpower10"),
        ("llvm-objdump and Power ISA 3.1", "xvf64gerpp, pmxvf64gerpp, xxsetaccz, xxmfacc"),
    ),
    "both are read, the ISA's names are printed",
    "measured; the words are the same",
)
NO_SUCH_INSTRUCTION = Contradiction(
    "no-such-instruction",
    (
        ("an IBM Redbook table", "lists xvf64ger2*"),
        ("OpenPOWER intrinsics reference, index", "lists xvi64ger2*"),
        ("instructionsets.com", "lists xxvger4spp, and a record (dot) form of the rank-k updates"),
        ("GNU as and llvm-mc", "know none of them"),
    ),
    "the 29 mnemonics and 29 pm forms that both assemblers know",
    "both assemblers, tried on every mnemonic",
)
BF16_OPCODE = Contradiction(
    "xvbf16ger2-opcode",
    (
        ("a web instruction catalogue", "xvbf16ger2 has primary opcode 60 and saturates"),
        ("GNU as and llvm-mc", "primary opcode 59; no float form saturates"),
    ),
    "primary opcode 59",
    "measured",
)
TABLE_II = Contradiction(
    "table-2-suffix",
    (
        ("paper, table II", "the built-in is __builtin_mma_xvi4ger8[ppp]"),
        ("paper, table I; GCC and both assemblers", "the suffix is pp"),
    ),
    "xvi4ger8 and xvi4ger8pp",
    "misprint",
)

# -- semantics
MASKED_ELEMENT = Contradiction(
    "masked-element",
    (
        ("paper, equation (3)", "a disabled row or column leaves A[i,j] as it was"),
        ("Power ISA 3.1 pseudocode; QEMU", "a disabled element becomes +0, also when accumulating"),
    ),
    "+0",
    "measured",
)
MASK_ORDER = Contradiction(
    "mask-bit-order",
    (
        ("paper, section II-C", "mask x0x1x2x3 enables the rows of X; nothing about memory order"),
        ("QEMU and GCC built-ins, big-endian", "memory row i is enabled by the bit of value 8 >> i"),
        ("QEMU and GCC built-ins, little-endian", "memory row i is enabled by the bit of value 1 << i"),
    ),
    "a mask's most significant bit is for ISA element 0, which is the last one in little-endian memory",
    "measured on both",
)
NEGATED_FORMS = Contradiction(
    "np-nn-meaning",
    (
        ("paper, section II-B3", "every np and nn form negates the product"),
        ("Power ISA 3.1 pseudocode, f32 and f64", "minus the rounded fused multiply-add"),
        ("Power ISA 3.1 pseudocode, f16 and bf16", "the rounded product sum is negated, then added"),
    ),
    "the pseudocode; the two readings differ in exact zeros and in directed roundings",
    "QEMU, measured, tells the two definitions apart",
)
NEGATION = Contradiction(
    "negation",
    (
        ("Power ISA 3.1 pseudocode", "f32 and f64 np and nn negate after rounding"),
        ("QEMU before May 2025", "negates before rounding: one unit off under RN = 2 and 3"),
    ),
    _open("negation"),
    "measured; corrected by QEMU's 'fpu: Process float_muladd_negate_result after rounding'",
)
BF16_SUM = Contradiction(
    "bf16-sum",
    (
        (
            "Power ISA 3.1 pseudocode",
            "rounds the product sum to a 24-bit significand, by the function's name",
        ),
        ("QEMU", "rounds the product sum to f32 at once"),
        ("qemu-devel 2022-05-10, values said to be of mambo or hardware", "QEMU misses one of three"),
    ),
    _open("bf16-sum"),
    "measured; the three values exclude one rounding, not every other first width",
)
SATURATION = Contradiction(
    "saturation-order",
    (
        ("paper, section II-B2", "adding to the largest integer does not change it (each addition clamps?)"),
        ("Power ISA 3.1 pseudocode; QEMU", "one clamp, of the exact sum with the accumulator"),
    ),
    "one clamp",
    "measured: xvi16ger2spp with all operands -32768 and ACC = -2**31 gives 0",
)
ALIASING = Contradiction(
    "aliasing",
    (
        ("OpenPOWER intrinsics reference", "writing to a VSR of an ACC with defined data makes it undefined"),
        ("paper, section II-B1", "the VSRs of a primed accumulator should not be used"),
        ("QEMU", "ACC[k] is VSR[4k..4k+3]; nothing is checked, priming does not exist"),
        ("GNU as and GCC -mcpu=future", "accumulators are registers of their own"),
    ),
    _open("aliasing"),
    "tools measured, documents as they say; portable code stays inside what all of them allow",
)

# -- the paper's kernels
CONVOLUTION_COLUMNS = Contradiction(
    "convolution-columns",
    (
        ("paper, section V-B", "the matrix made of three rows is 9 x (m-2), of three channels 27 x (m-2)"),
        ("the same section", "the result is (m-2) x (n-2), and equation (25) has columns 0 to n-3"),
    ),
    "n-2 columns: one for each pixel of a row of the result",
    "misprint; power/stated/kernels multiplies by that matrix",
)
MACRO_ARGUMENTS = Contradiction(
    "macro-arguments",
    (
        ("paper, Figure 8, as printed", "arguments have no parentheses: (fp32_4*)H+ 8+0 is 8 vectors on"),
        ("paper, Figure 9 and equation (25)", "H+ 8 is 8 elements on, R+1 one pixel"),
    ),
    "elements, as the equation has it; what the macro computes as printed is in power/kernels/sconv",
    "measured: compiled and run both ways",
)

# -- compilers
ASSEMBLE_ORDER = Contradiction(
    "assemble-order",
    (
        ("GCC __builtin_mma_assemble_acc", "the first vector goes to VSR[4k] on both endiannesses"),
        ("GCC __builtin_mma_build_acc", "the first vector goes to VSR[4k], on little-endian to VSR[4k+3]"),
        ("GCC 10 before commit 5497677b", "disassemble_acc stores in another order on little-endian"),
    ),
    "the built-ins of GCC 12; disassemble_acc stores VSR[4k+3] first on little-endian, else VSR[4k]",
    "measured; OpenBLAS pull request 2734 had to follow the change",
)

CONTRADICTIONS = (
    OVERLAP, ODD_PAIR, RESERVED_BITS, YMSK_WIDTH, SPELLINGS, NO_SUCH_INSTRUCTION, BF16_OPCODE, TABLE_II,
    MASKED_ELEMENT, MASK_ORDER, NEGATED_FORMS, NEGATION, BF16_SUM, SATURATION, ALIASING,
    CONVOLUTION_COLUMNS, MACRO_ARGUMENTS, ASSEMBLE_ORDER,
)  # fmt: skip
"""Every contradiction known."""
