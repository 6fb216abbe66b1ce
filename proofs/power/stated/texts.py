"""The listing of the DGEMM kernel: Moreira et al., Figure 7."""

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
