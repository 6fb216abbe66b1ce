"""What single instructions of Power give, as documents and measurements have it, in encodings.

Sources: Power ISA 3.1 section 7.2, the instructions' pseudocode; results seen on QEMU 7.2 where it follows
that; three values posted to qemu-devel on 2022-05-10 as those of hardware (xvbf16ger2).
"""

from __future__ import annotations

from ...text_tables import rows

_RESULTS = """
instruction            | X                | Y                | ACC              | RN      | result
xvi8ger4               | 80808080         | ffffffff         |                  | 0       | fffe0200
xvi8ger4               | ff000000         | 02000000         |                  | 0       | fffffffe
xvi8ger4               | 00000002         | 000000ff         |                  | 0       | 000001fe
xvi8ger4pp             | 01020304         | 01010101         | fffffff0         | 0       | fffffffa
xvi8ger4spp            | 80808080         | ffffffff         | 80000000         | 0       | 80000000 clamped
xvi8ger4spp            | 7f7f7f7f         | ffffffff         | 7fffffff         | 0       | 7fffffff clamped
xvi8ger4spp            | 01000000         | 01000000         | 7ffffffe         | 0       | 7fffffff
xvi4ger8               | 88888888         | 88888888         |                  | 0       | 00000200
xvi4ger8               | f0000000         | 70000000         |                  | 0       | fffffff9
xvi4ger8pp             | 00000003         | 0000000e         | 00000001         | 0       | fffffffb
xvi16ger2              | 80008000         | 80008000         |                  | 0       | 80000000
xvi16ger2              | ffff0000         | 00020000         |                  | 0       | fffffffe
xvi16ger2s             | 80008000         | 80008000         |                  | 0       | 7fffffff clamped
xvi16ger2pp            | 80008000         | 80008000         | 80000001         | 0       | 00000001
xvi16ger2spp           | 80008000         | 80008000         | 80000000         | 0       | 00000000
xvi16ger2spp           | 7fff8000         | 7fff7fff         | 7fffffff         | 0       | 7fff8000
pmxvi16ger2spp 15 15 0 | 80008000         | 80008000         | 7fffffff         | 0       | 7fffffff
pmxvi8ger4 15 15 8     | 01020408         | 01010101         |                  | 0       | 00000001
pmxvi8ger4 15 15 1     | 01020408         | 01010101         |                  | 0       | 00000008
pmxvi4ger8 15 15 64    | 12345671         | 11111111         |                  | 0       | 00000002
xvf32ger               | 40400000         | 40a00000         |                  | 0 1 2 3 | 41700000
xvf32gerpp             | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | 41b00000
xvf32gerpn             | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | 41000000
xvf32gernp             | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | c1000000
xvf32gernn             | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | c1b00000
xvf32gerpp             | 3f800800         | 3f800800         | bf801000         | 0 1 2 3 | 33800000
xvf32gernp             | 3f800000         | 3f800000         | 3f800000         | 0 1 2   | 80000000
xvf32gernp             | 3f800000         | 3f800000         | 3f800000         | 3       | 00000000
xvf32gernp             | 3f800001         | 3f800001         | 00000000         | 0 1 3   | bf800002
xvf32gernp             | 3f800001         | 3f800001         | 00000000         | 2       | bf800003
xvf32ger               | 3f800001         | 3f800001         |                  | 2       | 3f800003
xvf32ger               | 3f800001         | 3f800001         |                  | 0 1 3   | 3f800002
xvf32ger               | 7f7fffff         | 40000000         |                  | 0 2     | 7f800000
xvf32ger               | 7f7fffff         | 40000000         |                  | 1 3     | 7f7fffff
xvf32ger               | 00000001         | 3f000000         |                  | 0 1 3   | 00000000
xvf32ger               | 00000001         | 3f000000         |                  | 2       | 00000001
xvf32ger               | 00000003         | 3f000000         |                  | 0       | 00000002
xvf32ger               | 7f800000         | 00000000         |                  | 0       | 7fc00000
xvf32ger               | 7f800001         | 3f800000         |                  | 0       | 7fc00001
xvf64ger               | 4008000000000000 | 4014000000000000 |                  | 0 1 2 3 | 402e000000000000
xvf64gerpp             | 4008000000000000 | 4014000000000000 | 401c000000000000 | 0 1 2 3 | 4036000000000000
xvf64gerpn             | 4008000000000000 | 4014000000000000 | 401c000000000000 | 0 1 2 3 | 4020000000000000
xvf64gernp             | 4008000000000000 | 4014000000000000 | 401c000000000000 | 0 1 2 3 | c020000000000000
xvf64gernn             | 4008000000000000 | 4014000000000000 | 401c000000000000 | 0 1 2 3 | c036000000000000
xvf64gerpp             | 3ff0000000000001 | 3ff0000000000001 | bff0000000000002 | 0 1 2 3 | 3970000000000000
xvf16ger2              | 40000000         | 45000000         |                  | 0 1 2 3 | 41200000
xvf16ger2              | 7bff7bff         | 7bff7bff         |                  | 0 1 2 3 | 4fffc004
xvf16ger2              | 00010000         | 3c000000         |                  | 0 1 2 3 | 33800000
xvf16ger2              | 7c00fc00         | 3c003c00         |                  | 0       | 7fc00000
xvf16ger2              | 3c00bc00         | 3c003c00         |                  | 0 1 2   | 00000000
xvf16ger2              | 3c00bc00         | 3c003c00         |                  | 3       | 80000000
xvf16ger2pp            | 42000000         | 45000000         | 40e00000         | 0 1 2 3 | 41b00000
xvf16ger2pn            | 42000000         | 45000000         | 40e00000         | 0 1 2 3 | 41000000
xvf16ger2np            | 42000000         | 45000000         | 40e00000         | 0 1 2 3 | c1000000
xvf16ger2nn            | 42000000         | 45000000         | 40e00000         | 0 1 2 3 | c1b00000
xvf16ger2pp            | 3c000c00         | 3c000c00         | 33800000         | 0       | 3f800000
xvf16ger2np            | 3c000000         | 3c000000         | 3f800000         | 0 1 2   | 00000000
xvf16ger2np            | 3c000000         | 3c000000         | 3f800000         | 3       | 80000000
xvbf16ger2             | 40400000         | 40a00000         |                  | 0 1 2 3 | 41700000
xvbf16ger2pp           | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | 41b00000
xvbf16ger2pn           | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | 41000000
xvbf16ger2np           | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | c1000000
xvbf16ger2nn           | 40400000         | 40a00000         | 40e00000         | 0 1 2 3 | c1b00000
xvbf16ger2pp           | 3f803980         | 3f803980         | 33800000         | 0       | 3f800000
xvbf16ger2             | 000923da         | 9d080000         |                  | 0       | 80000000
xvbf16ger2             | 28c31f00         | 000f97ac         |                  | 0       | 80000016
xvbf16ger2             | 00018540         | b7092f00         |                  | 0       | 80000001
pmxvf16ger2pp 15 15 1  | 7c014000         | 3c003c00         | 3f800000         | 0 1 2 3 | 40400000
pmxvf16ger2pp 15 15 0  | 40004000         | 3c003c00         | 80000000         | 0 1 2   | 00000000
pmxvf16ger2np 15 15 0  | 40004000         | 3c003c00         | 80000000         | 0       | 80000000
pmxvf16ger2pp 15 15 0  | 40004000         | 3c003c00         | 7f800001         | 0       | 7fc00001
pmxvf32gerpp 0 15      | 40000000         | 40000000         | 3f800000         | 0       | 00000000
pmxvf32gerpp 15 0      | 40000000         | 40000000         | 3f800000         | 0       | 00000000
"""

RESULTS = rows(_RESULTS)
"""Mnemonic and masks; a word (or doubleword) of X, Y and ACC, the same everywhere; FPSCR.RN; the result."""

DISABLED = (
    (8, 1, {(0, 3)}),
    (1, 8, {(3, 0)}),
    (6, 10, {(1, 0), (1, 2), (2, 0), (2, 2)}),
)
"""XMSK, YMSK, and the elements (row, column) of a 4 x 4 accumulator that are enabled; others become 0."""
