"""Texts of Power instructions: spellings that assemblers take, what they refuse, a listing with its bytes.

Sources: Moreira et al., Figure 7 (listing); spellings of GNU as, objdump and llvm-mc; OpenPOWER Power Vector
Intrinsics and Power ISA 3.1 section 7.2 (priming).
"""

from __future__ import annotations

LISTING = """
10001750: 40 00 a4 19 lxvp vs44,64(r4)
10001754: 60 00 24 18 lxvp vs32,96(r4)
10001758: 40 00 a5 38 addi r5,r5,64
1000175c: 40 00 84 38 addi r4,r4,64
10001760: 09 00 05 f5 lxv vs40,0(r5)
10001764: 19 00 25 f5 lxv vs41,16(r5)
10001768: 29 00 45 f5 lxv vs42,32(r5)
1000176c: 39 00 65 f5 lxv vs43,48(r5)
10001770: d6 41 0c ee xvf64gerpp a4,vs44,vs40
10001774: d6 41 80 ed xvf64gerpp a3,vs32,vs40
10001778: d6 49 8c ee xvf64gerpp a5,vs44,vs41
1000177c: d6 49 80 ec xvf64gerpp a1,vs32,vs41
10001780: d6 51 0c ef xvf64gerpp a6,vs44,vs42
10001784: d6 51 00 ed xvf64gerpp a2,vs32,vs42
10001788: d6 59 8c ef xvf64gerpp a7,vs44,vs43
1000178c: d6 59 00 ec xvf64gerpp a0,vs32,vs43
10001790: c0 ff 00 42 bdnz 10001750
"""
"""Figure 7: address, bytes in memory (little-endian), text."""

WORDS = (
    ("pmxvi4ger8 a5,vs34,vs43,9,9,167", "0790a799 ee82591e"),
    ("pmxvf64ger a4,vs44,vs40,15,3", "079000fc ee0c41de"),
    ("pmxvi8ger4 a0,vs34,vs35,1,2,8", "07908012 ec02181e"),
    ("pmxvf16ger2 a0,vs34,vs35,1,2,2", "07908012 ec02189e"),
    ("pmxvf32ger a5,vs34,vs43,9,9", "07900099 ee8258de"),
    ("lxv vs45,-16(r3)", "f5a3fff9"),
    ("lxv vs45,32752(r3)", "f5a37ff9"),
    ("lxv vs45,-32768(r3)", "f5a38009"),
    ("stxvp vs34,64(r4)", "18640041"),
    ("lxvpx vs44,r3,r4", "7da3229a"),
    ("addi r5,r5,-1", "38a5ffff"),
    ("bdnz .-64", "4200ffc0"),
    ("bdnz .+8", "42000008"),
)
"""Lines and their words, as assembled by GNU as."""

NO_WORDS = (
    "ee6c41d6", "ee0d41d6", "7da3229b", "079f00fc ee0c41d6", "079000ff ee0c41d6", "0790a799", "60000000",
    "ee0c41d6 ee0c41d6", "", "100000000",
)  # fmt: skip
"""What is no instruction: reserved bits set, parts missing, words of none."""

NO_CODE = (("0000", 0), ("60000000", 64), ("38000000 0790a799", 256), ("0790a799 ee82591e", 60))
"""Big-endian code, and its address, that is not disassembled: cut off, unknown, across 64 bytes."""

SPELLINGS = (
    ("xvf64gerpp 4,44,40", "xvf64gerpp a4,vs44,vs40"), ("xvf64gerpp 4, 44, 40", "xvf64gerpp a4,vs44,vs40"),
    ("  xvf64gerpp\tacc4 , %vs44,VS40  # comment, (with) punctuation", "xvf64gerpp a4,vs44,vs40"),
    ("XVF64GERPP a4,vs44,vs40", "xvf64gerpp a4,vs44,vs40"),
    ("dmxvf64gerpp wacc4,vs44,vs40", "xvf64gerpp a4,vs44,vs40"),
    ("pmdmxvi8ger4spp 1,34,35,1,2,3", "pmxvi8ger4spp a1,vs34,vs35,1,2,3"), ("dmsetaccz 1", "xxsetaccz a1"),
    ("dmxxmfacc 1", "xxmfacc a1"), ("dmxxmtacc acc7", "xxmtacc a7"),
    ("pmxvf32ger 0,34,35,0xF,0b11", "pmxvf32ger a0,vs34,vs35,15,3"),
    ("pmxvi4ger8 %a5,34,43,9,9,0xa7", "pmxvi4ger8 a5,vs34,vs43,9,9,167"),
    ("lxv 5, -16 ( 3 )", "lxv vs5,-16(r3)"), ("lxv vs5,16(r0)", "lxv vs5,16(0)"),
    ("lxvx 44,r0,r0", "lxvx vs44,0,r0"), ("stxvp 34,0x40(%r4)", "stxvp vs34,64(r4)"),
    ("addi 3,3,-0x10", "addi r3,r3,-16"), ("addi r3,r0,1", "addi r3,0,1"), ("bdnz .", "bdnz .+0"),
    ("bdnz .+0x8", "bdnz .+8"), ("bdnz .-64", "bdnz .-64"), ("xvf32ger", "xvf32ger"),
)  # fmt: skip
"""A text, and the one that is printed."""

AT_ADDRESS = (
    ("bdnz 10001750", 0x10001790, -64), ("bdnz 0x10001750", 0x10001790, -64), ("bdnz 20", 0x10, 16),
    ("bdnz fffffffffffffff0", 0, -16), ("bdnz 0", 0xFFFFFFFFFFFFFFF0, 16),
    ("bdnz 0XFFC", 0xFF0, 12), ("bdnz ABC", 0xAB0, 12),
    ("bdnz 8000000000000000", 0, -(1 << 63)), ("bdnz 7ffffffffffffffc", 0, (1 << 63) - 4),
)  # fmt: skip
"""A branch at an address, and its distance."""

REFUSED = (
    "", " # comment", "xvf32gerq 0,1,2", "vaddfp 0,1,2", "xvf32ger 0,v2,35", "xvf32ger r0,34,35",
    "xvf32ger 00,34,35", "xvf32ger 0,34,3_5", "xvf32ger 0,%34,35", "xvf32ger 0,,35", "xvf32ger 0, ,35",
    "pmxvf32ger 0,34,35,vs1,2", "xvf32ger 0 34 35", "xxmfacc 1,2", "lxv 5,16,3", "lxv 5,16(3",
    "lxv 5,16(3)4", "lxvx 5,16(3)", "bdnz 10001750", "xxmfacc -", "xvf32ger 0,34,0x",
    "xvf32ger 0,34,0b2", "xvf32ger 0,a34,35", "addi r5,r5,9999999999999999999999",
)  # fmt: skip
"""What is no instruction."""

EXCEPTIONS = (
    # an update, FPSCR.RN, every element of X, of Y and of the accumulator, what is raised
    ("xvf32gerpp", 0, "3f800000", "40000000", "3f800000", ""),
    ("xvf32gerpp", 0, "3f800001", "3f800001", "00000000", "XX"),
    ("xvf32gerpp", 0, "7f7fffff", "7f7fffff", "00000000", "OX XX"),
    ("xvf32gerpp", 0, "7f7fffff", "3f800000", "00000001", "XX"),
    ("xvf32gerpp", 1, "7f7fffff", "3f800000", "00000001", "XX"),
    ("xvf32gerpp", 2, "7f7fffff", "3f800000", "00000001", "OX XX"),
    ("xvf32gerpp", 0, "7f000000", "40000000", "80000001", "OX XX"),
    ("xvf32gerpp", 1, "7f000000", "40000000", "00000000", "OX XX"),
    ("xvf32gerpp", 1, "7f000000", "40000000", "80000001", "XX"),
    ("xvf32gernp", 2, "7f000000", "40000000", "00000001", "OX XX"),
    ("xvf32gernp", 3, "7f000000", "40000000", "00000001", "XX"),
    ("xvf32gerpp", 0, "00800000", "3f000000", "00000000", ""),
    ("xvf32gerpp", 0, "00800000", "00800000", "00000000", "UX XX"),
    ("xvf32gerpp", 0, "00800000", "80800000", "00000000", "UX XX"),
    ("xvf32ger", 0, "00000001", "3e800000", "", "UX XX"),
    ("xvf32ger", 0, "00ffffff", "3f000000", "", "UX XX"),
    ("xvf32ger", 2, "00ffffff", "3f000000", "", "UX XX"),
    ("xvf32ger", 0, "80ffffff", "3f000000", "", "UX XX"),
    ("xvf32ger", 3, "80ffffff", "3f000000", "", "UX XX"),
    ("xvf32ger", 0, "01000001", "3f7fffff", "", "XX"),
    ("xvf32ger", 0, "81000001", "3f7fffff", "", "XX"),
    ("xvf32gerpp", 0, "00ffffff", "3f000000", "00800000", "XX"),
    ("xvf32gerpp", 0, "00000000", "3f800000", "80000000", ""),
    ("xvf32gerpp", 0, "7fc00000", "3f800000", "3f800000", ""),
    ("xvf32gerpp", 0, "7f800001", "3f800000", "3f800000", "VXSNAN"),
    ("xvf32gerpp", 0, "3f800000", "ff800001", "3f800000", "VXSNAN"),
    ("xvf32gerpp", 0, "3f800000", "3f800000", "7f800001", "VXSNAN"),
    ("xvf32gerpp", 0, "7f800000", "3f800000", "ff800000", "VXISI"),
    ("xvf32gerpp", 0, "7f800000", "3f800000", "7f800000", ""),
    ("xvf32gerpp", 0, "7f800000", "00000000", "3f800000", "VXIMZ"),
    ("xvf32gerpp", 0, "80000000", "7f800000", "3f800000", "VXIMZ"),
    ("xvf32gerpp", 0, "3f800000", "3f800000", "bf800000", ""),
    ("xvbf16ger2", 0, "7f7f", "7f7f", "", "OX XX"),
    ("xvf16ger2pp", 0, "7bff", "7bff", "7f7fffff", "XX"),
    ("xvf64ger", 0, "3ff0000000000001", "3ff0000000000001", "", "XX"),
    ("xvf64ger", 0, "3ff0000000000000", "3ff0000000000001", "", ""),
    ("xvf64gerpp", 0, "7fe0000000000000", "4000000000000000", "8000000000000001", "OX XX"),
    ("xvf64gerpp", 1, "7fe0000000000000", "4000000000000000", "8000000000000001", "XX"),
    ("xvf64gerpp", 1, "7fe0000000000000", "4000000000000000", "0000000000000000", "OX XX"),
    ("xvf64gerpp", 0, "7fefffffffffffff", "3ff0000000000000", "7c90000000000000", "OX XX"),
    ("xvf64gerpp", 0, "7fefffffffffffff", "3ff0000000000000", "7c8fffffffffffff", "XX"),
    ("xvf64gerpp", 0, "7fe0000000000000", "7fe0000000000000", "ffefffffffffffff", "OX XX"),
    ("xvf64ger", 0, "001fffffffffffff", "3fe0000000000000", "", "UX XX"),
    ("xvf64ger", 0, "0010000000000000", "3fe0000000000000", "", ""),
    ("xvf64gerpp", 0, "7ff0000000000000", "3ff0000000000000", "3ff0000000000000", ""),
)
"""What instructions raise (Power ISA 3.1 sections 7.2 and 7.4)."""

NEGATED_FIRST = (
    # the same where a result is negated before it is rounded: up to a magnitude is down to its negative
    ("xvf32gernp", 2, "7f000000", "40000000", "00000001", "XX"),
    ("xvf32gernp", 3, "7f000000", "40000000", "00000001", "OX XX"),
    ("xvf32gernn", 2, "7f7fffff", "3f800000", "00000001", "XX"),
    ("xvf32gernn", 3, "7f7fffff", "3f800000", "00000001", "OX XX"),
    ("xvf32gerpp", 2, "7f7fffff", "3f800000", "00000001", "OX XX"),
    ("xvf32gerpn", 3, "7f7fffff", "3f800000", "80000001", "XX"),
    ("xvf64gernp", 2, "7fe0000000000000", "4000000000000000", "0000000000000001", "XX"),
    ("xvf64gernp", 3, "7fe0000000000000", "4000000000000000", "0000000000000001", "OX XX"),
)
"""What QEMU's order of negating and rounding raises (softfloat, ``float_muladd_negate_result``)."""

PROGRAMS = (
    # a program from a start without primed accumulators; instruction and rule of what is wrong on Power10;
    # and where accumulators are registers of their own
    ("xxsetaccz 0; xvf32gerpp 0,34,35; xxmfacc 0; stxv 0,0(3)", "", ""),
    ("xvi16ger2s 7,0,27; xvi16ger2spp 7,0,27; xxmfacc 7; xxmtacc 7", "", ""),
    ("lxv 4,0(3); xxmtacc 1; xxsetaccz 1; xvf32ger 1,34,35", "", ""),
    ("xvf32ger 1,34,35; lxv 8,0(3); stxv 3,0(3); lxvp 32,0(3)", "", ""),
    ("xvf64ger 1,40,42; xxmfacc 1; stxvp 4,0(3); stxvp 6,32(3); lxvp 4,0(3); lxvp 6,32(3); xxmtacc 1; "
     "xvf64gerpp 1,40,42", "", ""),
    ("xvf32gerpp 0,34,35", "0 unprimed", "0 unprimed"),
    ("xxmfacc 3", "0 unprimed", "0 unprimed"),
    ("xxsetaccz 3; xxmfacc 3; xxmfacc 3", "2 unprimed", "2 unprimed"),
    ("xxsetaccz 1; stxv 5,0(3)", "1 vsr-in-use", ""),
    ("xxsetaccz 1; stxvp 6,0(3)", "1 vsr-in-use", ""),
    ("xxsetaccz 1; xxmtacc 1", "1 vsr-in-use", ""),
    ("xxsetaccz 1; xvf32ger 0,5,34", "1 vsr-in-use", ""),
    ("xxsetaccz 7; xvf32ger 0,34,31", "1 vsr-in-use", ""),
    ("xxsetaccz 7; xvf64ger 0,30,34", "1 vsr-in-use", ""),
    ("xxsetaccz 1; lxv 7,0(3)", "1 vsr-clobber", ""),
    ("xxsetaccz 1; lxvpx 4,0,3", "1 vsr-clobber", ""),
    ("xxsetaccz 1; lxv 7,0(3); xvf32gerpp 1,34,35; xxsetaccz 1; xxmfacc 1", "1 vsr-clobber, 2 unprimed", ""),
    ("pmxvf32ger 0,34,35,15,15; pmxvf32gerpp 0,34,35,15,15; xvbf16ger2nn 0,34,35", "", ""),
    ("pmxvi8ger4spp 0,34,35,15,15,15", "0 unprimed", "0 unprimed"),
)  # fmt: skip
"""Programs, and the rules on priming that they break."""
