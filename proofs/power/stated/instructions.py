"""The instruction table of Power MMA, as the ISA and the assemblers print it.

Words are whole, with every operand 0, and a second time put together from opcodes. Sources: Power ISA 3.1
Book I, sections 7.2 and 7.6 and the instruction formats XX3, X, DQ, D, B and MMIRR (field positions); Book I
appendix of opcodes (words); Moreira et al., "A matrix math facility for Power ISA processors", Table I.
"""

from __future__ import annotations

from ...text_tables import bits, rows

_UPDATES = """
mnemonic     | word       | XO  | k | X    | Y    | ACC | overflow | product | accumulator
xvi8ger4pp   | 0xec000010 |   2 | 4 | s8   | u8   | s32 | wraps    | +       | +
xvi8ger4     | 0xec000018 |   3 | 4 | s8   | u8   | s32 | wraps    | +       |
xvi8ger4spp  | 0xec000318 |  99 | 4 | s8   | u8   | s32 | clamps   | +       | +
xvi4ger8pp   | 0xec000110 |  34 | 8 | s4   | s4   | s32 | wraps    | +       | +
xvi4ger8     | 0xec000118 |  35 | 8 | s4   | s4   | s32 | wraps    | +       |
xvi16ger2spp | 0xec000150 |  42 | 2 | s16  | s16  | s32 | clamps   | +       | +
xvi16ger2s   | 0xec000158 |  43 | 2 | s16  | s16  | s32 | clamps   | +       |
xvi16ger2    | 0xec000258 |  75 | 2 | s16  | s16  | s32 | wraps    | +       |
xvi16ger2pp  | 0xec000358 | 107 | 2 | s16  | s16  | s32 | wraps    | +       | +
xvf16ger2pp  | 0xec000090 |  18 | 2 | f16  | f16  | f32 | rounds   | +       | +
xvf16ger2    | 0xec000098 |  19 | 2 | f16  | f16  | f32 | rounds   | +       |
xvf16ger2np  | 0xec000290 |  82 | 2 | f16  | f16  | f32 | rounds   | -       | +
xvf16ger2pn  | 0xec000490 | 146 | 2 | f16  | f16  | f32 | rounds   | +       | -
xvf16ger2nn  | 0xec000690 | 210 | 2 | f16  | f16  | f32 | rounds   | -       | -
xvf32gerpp   | 0xec0000d0 |  26 | 1 | f32  | f32  | f32 | rounds   | +       | +
xvf32ger     | 0xec0000d8 |  27 | 1 | f32  | f32  | f32 | rounds   | +       |
xvf32gernp   | 0xec0002d0 |  90 | 1 | f32  | f32  | f32 | rounds   | -       | +
xvf32gerpn   | 0xec0004d0 | 154 | 1 | f32  | f32  | f32 | rounds   | +       | -
xvf32gernn   | 0xec0006d0 | 218 | 1 | f32  | f32  | f32 | rounds   | -       | -
xvbf16ger2pp | 0xec000190 |  50 | 2 | bf16 | bf16 | f32 | rounds   | +       | +
xvbf16ger2   | 0xec000198 |  51 | 2 | bf16 | bf16 | f32 | rounds   | +       |
xvbf16ger2np | 0xec000390 | 114 | 2 | bf16 | bf16 | f32 | rounds   | -       | +
xvbf16ger2pn | 0xec000590 | 178 | 2 | bf16 | bf16 | f32 | rounds   | +       | -
xvbf16ger2nn | 0xec000790 | 242 | 2 | bf16 | bf16 | f32 | rounds   | -       | -
xvf64gerpp   | 0xec0001d0 |  58 | 1 | f64  | f64  | f64 | rounds   | +       | +
xvf64ger     | 0xec0001d8 |  59 | 1 | f64  | f64  | f64 | rounds   | +       |
xvf64gernp   | 0xec0003d0 | 122 | 1 | f64  | f64  | f64 | rounds   | -       | +
xvf64gerpn   | 0xec0005d0 | 186 | 1 | f64  | f64  | f64 | rounds   | +       | -
xvf64gernn   | 0xec0007d0 | 250 | 1 | f64  | f64  | f64 | rounds   | -       | -
"""

UPDATES = {row["mnemonic"]: row for row in rows(_UPDATES)}
"""The 29 rank-k updates; `accumulator` is the sign of the old accumulator, empty where it is not read."""

_MASKS = """
X and Y | XMSK  | YMSK  | PMSK
s4      | 24-27 | 28-31 | 16-23
s8      | 24-27 | 28-31 | 16-19
s16     | 24-27 | 28-31 | 16-17
f16     | 24-27 | 28-31 | 16-17
bf16    | 24-27 | 28-31 | 16-17
f32     | 24-27 | 28-31 |
f64     | 24-27 | 28-29 |
"""

MASKS = {
    row.pop("X and Y"): {mask: tuple(bits(at)) for mask, at in row.items() if at} for row in rows(_MASKS)
}
"""The bits of the prefix that each mask of a ``pm`` form occupies, by the type of X."""

PREFIX = 0x07900000
"""The prefix of every ``pm`` form, with the masks 0."""

_OTHERS = """
mnemonic  | word       | operands                          | ISA
xxmfacc   | 0x7c000162 | AS 6-8                            | 3.1
xxmtacc   | 0x7c010162 | AT 6-8                            | 3.1
xxsetaccz | 0x7c030162 | AT 6-8                            | 3.1
lxv       | 0xf4000001 | XT 28 6-10, D 16-27, RA 11-15     | 3.0
stxv      | 0xf4000005 | XS 28 6-10, D 16-27, RA 11-15     | 3.0
lxvp      | 0x18000000 | XTp 10 6-9, D 16-27, RA 11-15     | 3.1
stxvp     | 0x18000001 | XSp 10 6-9, D 16-27, RA 11-15     | 3.1
lxvx      | 0x7c000218 | XT 31 6-10, RA 11-15, RB 16-20    | 3.0
stxvx     | 0x7c000318 | XS 31 6-10, RA 11-15, RB 16-20    | 3.0
lxvpx     | 0x7c00029a | XTp 10 6-9, RA 11-15, RB 16-20    | 3.1
stxvpx    | 0x7c00039a | XSp 10 6-9, RA 11-15, RB 16-20    | 3.1
addi      | 0x38000000 | RT 6-10, RA 11-15, SI 16-31       | 2.07
bdnz      | 0x42000000 | target 16-29                      | 2.07
"""

_OPCODES = """
mnemonic  | PO | XO                | others
xxmfacc   | 31 | 177 at 21-30      |
xxmtacc   | 31 | 177 at 21-30      | 1 at 11-15
xxsetaccz | 31 | 177 at 21-30      | 3 at 11-15
lxv       | 61 | 1 at 29-31        |
stxv      | 61 | 5 at 29-31        |
lxvp      |  6 | 0 at 28-31        |
stxvp     |  6 | 1 at 28-31        |
lxvx      | 31 | 268 at 21-30      |
stxvx     | 31 | 396 at 21-30      |
lxvpx     | 31 | 333 at 21-30      |
stxvpx    | 31 | 461 at 21-30      |
addi      | 14 |                   |
bdnz      | 16 |                   | 16 at 6-10
"""


def word_of_opcodes(mnemonic: str) -> int:
    """Put a word together from primary and extended opcode and fixed fields, with every operand 0.

    A rank-k update has primary opcode 59 and the extended one in bits 21 to 28; its prefix has primary opcode
    1, type 3 (modified, in bits 6 and 7) and the subtype 9 in bits 8 to 11.
    """
    row = UPDATES.get(mnemonic.removeprefix("pm"))
    if row is not None:
        suffix = 59 << 26 | int(row["XO"]) << 3
        return (1 << 26 | 3 << 24 | 9 << 20) << 32 | suffix if mnemonic.startswith("pm") else suffix
    opcodes = next(each for each in rows(_OPCODES) if each["mnemonic"] == mnemonic)
    found = int(opcodes["PO"]) << 26
    for field in (opcodes["XO"], opcodes["others"]):
        if field:
            value, _, at = field.partition(" at ")
            found |= int(value) << 31 - max(bits(at))
    return found


FACTORS = {"D": 16, "target": 4, "XAp": 2, "XTp": 2, "XSp": 2}
"""The number that a value is divided by before it stands in its field."""


def operands(mnemonic: str) -> dict[str, tuple[int, ...]]:
    """Return an instruction's operands in the order of the text, and the bits each one occupies.

    Bits are numbered from the most significant one of the word; those of a ``pm`` form's word from 32 on.
    """
    word = mnemonic.removeprefix("pm")
    if word not in UPDATES:
        listed = (part.strip().partition(" ") for part in OTHERS[mnemonic]["operands"].split(","))
        return {name: tuple(bits(at)) for name, _, at in listed}
    pair = UPDATES[word]["X"] == "f64"
    found = {"AT": "6-8", "XAp" if pair else "XA": "29 11-14" if pair else "29 11-15", "XB": "30 16-20"}
    if word == mnemonic:
        return {name: tuple(bits(at)) for name, at in found.items()}
    suffix = {name: tuple(32 + bit for bit in bits(at)) for name, at in found.items()}
    return {**suffix, **MASKS[UPDATES[word]["X"]]}


OTHERS = {row["mnemonic"]: row for row in rows(_OTHERS)}
"""The accumulator moves, the loads and stores, and what surrounds them in a loop."""

MNEMONICS = (*UPDATES, *(f"pm{mnemonic}" for mnemonic in UPDATES), *OTHERS)
"""Every instruction."""


TARGETS = {
    "power8": (2.07, False), "power9": (3.0, False), "power10": (3.1, False), "power11": (3.1, False),
    "future": (3.1, True),
}  # fmt: skip
"""The version of the ISA that processors implement, and whether accumulators are registers of their own."""

REGISTERS = {
    "VSRs": 64, "bytes": 16, "bits": 128, "accumulators": 8, "rows": 4, "VSRs of an accumulator": 4,
    "VSRs of all": 32,
}  # fmt: skip
"""What a machine has."""


def isa(mnemonic: str) -> float:
    """Return the version of the Power ISA that introduced an instruction."""
    return float(OTHERS[mnemonic]["ISA"]) if mnemonic in OTHERS else 3.1


def word(mnemonic: str) -> int:
    """Return an instruction's word, or its prefix and word, with every operand 0."""
    if mnemonic in OTHERS:
        return int(OTHERS[mnemonic]["word"], 16)
    suffix = int(UPDATES[mnemonic.removeprefix("pm")]["word"], 16)
    return PREFIX << 32 | suffix if mnemonic.startswith("pm") else suffix
