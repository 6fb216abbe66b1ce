"""What the paper on Power's matrix instructions says, sentence by sentence, and what answers for it."""

from __future__ import annotations

from .document_statement import Statement

_TOOLS = "about tools, not about what is computed"
_MEASURED = "measured on hardware, not specified"
_MICROARCHITECTURE = "about one implementation; how long it takes, and where, is not specified"

PAPER = (
    Statement(
        "rank-k updates of small matrices, in MMA instructions of Power ISA 3.1",
        ("power/blocked/ring", "power/stated/targets", "power/target-isa"),
    ),
    Statement(
        "MMA instructions interleave with any others",
        ("power/state/aliasing", "power/state/accepted"),
        "between others that leave the accumulators' registers alone",
    ),
    Statement(
        "ACC[0:7] are eight accumulators of 512 bits",
        ("power/accumulator-range", "power/stated/targets"),
    ),
    Statement(
        "an accumulator holds 4 x 2 fp64, 4 x 4 fp32 or 4 x 4 int32 elements",
        ("power/stated/registers", "power/stated/updates", "power/layout/accumulator"),
    ),
    Statement(
        "Figure 1: each accumulator has four consecutive registers of VSR[0:31]",
        ("power/stated/targets", "power/legal/registers", "power/state/overlap"),
    ),
    Statement(
        "Table I(a): xxsetaccz sets to 0, xxmfacc and xxmtacc move between accumulator and VSRs",
        ("power/stated/machine", "power/stated/executed"),
    ),
    Statement(
        "Table I: forms with pm are 64 bits, a prefix and a suffix word, others 32",
        ("power/stated/words", "power/stated/forms", "power/encoding/unique"),
    ),
    Statement(
        "Table I(b) and (c): mnemonics, suffixes, types and shapes",
        ("power/stated/forms", "power/stated/updates", "power/stated/registers"),
    ),
    Statement("each rank-k update has a prefixed form, the moves have none", ("power/stated/forms",)),
    Statement(
        "as long as an accumulator is in use its four VSRs must not be used",
        ("power/state/accepted", "power/state/aliasing", "aliasing"),
    ),
    Statement("VSR[32:63] can always be used", ("power/state/accepted",)),
    Statement(
        "moving data in, or setting to zero, primes an accumulator",
        ("power/state/transition", "power/state/primed-again"),
    ),
    Statement(
        "after a depriming event an accumulator should not be used until primed again",
        ("power/state/after-xxmfacc", "power/state/after-clobber"),
    ),
    Statement(
        "forms that write X·Yᵀ prime the accumulator; accumulating ones require it primed",
        ("power/state/transition", "power/state/accepted"),
    ),
    Statement("X and Y must not overlap the accumulator", ("power/vsr-overlap", "power/state/overlap")),
    Statement(
        "integers: A ← X·Yᵀ [+ A], k = 2, 4 or 8",
        ("power/blocked/first", "power/blocked/next", "power/blocked/ring"),
    ),
    Statement(
        "some integer forms saturate, others are modulo",
        ("power/integers/saturation", "power/integers/overflow"),
    ),
    Statement(
        "8-bit X is signed, 8-bit Y unsigned; others are signed",
        ("power/integers/product-range",),
    ),
    Statement(
        "the s suffix selects saturating arithmetic",
        ("power/stated/updates", "power/integers/saturation"),
    ),
    Statement(
        "modulo: behind the largest integer comes the smallest; saturating: it stays the largest",
        ("power/integers/saturation", "power/integers/one-clamp", "saturation-order"),
        "an instruction clamps once, the exact sum with the accumulator",
    ),
    Statement(
        "int8 saturates in the accumulating form only, for a product alone can't overflow",
        ("power/integers/overflow", "power/stated/updates"),
    ),
    Statement(
        "int4 is modulo alone",
        ("power/stated/updates", "power/integers/overflow"),
        "nor can its product overflow; with an accumulator it wraps",
    ),
    Statement(
        "VSRs have 128 bits, an accumulator 512, which are those of four VSRs",
        ("power/stated/targets", "power/layout/accumulator"),
    ),
    Statement(
        "floats: A ← [−] X·Yᵀ [± A]; p and n are the signs of product and accumulator",
        (
            "power/blocked/ring",
            "power/signs/negative-accumulator",
            "power/signs/negated-result",
            "np-nn-meaning",
        ),
        "of f32 and f64 the rounded sum is negated, not the product",
    ),
    Statement(
        "xvbf16ger2 takes brain floats, xvf16ger2 IEEE half-precision, 4 x 2 of each",
        ("power/stated/updates", "power/stated/formats", "power/numerics/exact-product"),
    ),
    Statement(
        "xvf32ger: vectors of 4 elements, their outer product is 4 x 4",
        ("power/stated/updates", "power/stated/registers", "power/stated/results"),
    ),
    Statement(
        "none of the registers of the pair may overlap the accumulator",
        ("power/state/overlap", "power/state/pair", "power/legal/registers"),
    ),
    Statement(
        "xvf64ger: X is an even-odd pair of VSRs, the accumulator is 4 x 2",
        ("power/odd-pair", "power/layout/accumulator", "power/encoding/odd-pair"),
    ),
    Statement(
        "equation (3): masks switch rows, columns and products off",
        (
            "power/masking/live",
            "power/masking/disabled",
            "power/masking/equation-3",
            "masked-element",
        ),
        "a disabled element is +0, which equation (3) does not say",
    ),
    Statement(
        "computations on disabled rows and columns are not performed, exceptions are not generated",
        ("power/masking/exceptions",),
        "the bits are the ISA's: OX, UX, XX, VXSNAN, VXISI and VXIMZ, compared with QEMU's",
    ),
    Statement("of xvf32ger and xvf64ger only x and y masks can be specified", ("power/mask-unexpected",)),
    Statement(
        "masks are fields of 4, 2 and k bits of an instruction with the prefix, which others lack",
        ("power/mask-range", "power/stated/words", "power/legal/complete", "power/encoding/unique"),
    ),
    Statement(
        "pmxvf16ger2pp A, X, Y, x, y, p: masks x0x1x2x3, y0y1y2y3 and p0p1, the first bit for row 0",
        ("power/stated/machine", "power/stated/results", "power/stated/texts", "mask-bit-order"),
        "in little-endian memory row 0 is the last one: power/transport/memory-order",
    ),
    Statement("prefixed forms compute residual iterations", ("power/blocked/ragged",)),
    Statement(
        "section III: slices, pipelines, buses, cycles of transfers, where the accumulators are",
        (),
        _MICROARCHITECTURE,
    ),
    Statement(
        "an ALU does 1 multiply-add of fp64, or 2 of fp32, 4 of 16, 8 of 8, 16 of 4 bits; 4 x 2 of them",
        ("power/stated/updates", "power/stated/registers"),
        "an instruction has eight times as many, as its rank, rows and columns say; the rest is hardware",
    ),
    Statement(
        "an outer product of fp32 reads two VSRs",
        ("power/stated/forms", "power/stated/registers"),
    ),
    Statement(
        "triangular solves and Fourier transforms can be built of these instructions",
        (),
        "advice; which programs compute what, verify tells of each",
    ),
    Statement(
        "built-ins' types: vectors of 16 bytes, pairs of 32, groups of four of 64",
        ("power/transport/built-ins", "power/stated/memory"),
    ),
    Statement(
        "Table II: a built-in for each instruction, its operands and the widths of its masks",
        ("power/stated/built-ins", "table-2-suffix"),
    ),
    Statement(
        "assemble_acc takes any four vectors, disassemble_acc stores them; xxmtacc and xxmfacc move "
        "an accumulator's own registers",
        ("power/transport/built-ins", "power/stated/machine", "assemble-order"),
    ),
    Statement(
        "assemble_acc, xxsetaccz and forms that do not accumulate prime an accumulator",
        ("power/state/transition", "power/state/primed-again"),
        "assemble_acc is xxmtacc after moves",
    ),
    Statement(
        "equation (4): C ← α A B + β C is the whole of DGEMM",
        (),
        "the paper considers its innermost kernel alone; contracts of verify state α and β",
    ),
    Statement(
        "Figure 5: mma_store_acc stores four vectors, D times 16 bytes from A on",
        ("power/kernels/dgemm/stored", "power/stated/kernels"),
    ),
    Statement(
        "Figure 5: the operation is one of ger, gerpp, gernp, gerpn and gernn",
        ("power/stated/forms", "power/stated/built-ins"),
    ),
    Statement(
        "Figures 4 to 6: DGEMM on eight accumulators computes X·Yᵀ",
        ("power/kernels/dgemm/any-n", "power/kernels/dgemm/stored", "power/stated/kernels"),
        "in eight blocks, not as a row-major matrix; casts of Figure 5 are refused by GCC's C, not by C++",
    ),
    Statement("Figure 6: an empty multiply stores nothing", ("power/stated/kernels/dgemm/little",)),
    Statement(
        "Figure 7: the bytes of the loop are the printed instructions",
        ("power/stated/texts/listing", "power/stated/words"),
    ),
    Statement(
        "Figure 7: two 32-byte loads, four of 16 bytes, eight updates, pointers 64 bytes on",
        ("power/kernels/dgemm/next", "power/stated/memory", "power/transport/memory-order"),
        "the loop as object code is verified by the tests of verify",
    ),
    Statement(
        "equations (15) and (25): a convolution is the kernels times a matrix of shifted rows",
        ("power/stated/kernels/sconv/equation-25/little", "convolution-columns"),
        "it has n-2 columns; the text says m-2",
    ),
    Statement(
        "Figures 8 and 9: SCONV is a 3 x 3 convolution of three channels, 27 outer products",
        ("power/kernels/sconv", "power/stated/kernels", "macro-arguments"),
        "as printed its macro does not parenthesise arguments, and it is not (pinned)",
    ),
    Statement(
        "the programmer must not use an accumulator that has not been primed",
        ("power/state/accepted", "power/state/rules-needed"),
    ),
    Statement("passing accumulators across calls, or more than eight, costs performance", (), _TOOLS),
    Statement("sections VI and VII: flops per cycle and power", (), _MEASURED),
)
"""Moreira et al., A matrix math facility for Power ISA processors."""
