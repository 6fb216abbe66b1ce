"""For each rule on an instruction of Power, instructions that break it and no other, and what repairs them.

Sources: Power ISA 3.1 Book I, instruction forms; Moreira et al. sections II-B2 and II-B3; GNU as, llvm-mc.
"""

from __future__ import annotations

WITNESSES = (
    # rule, target, what is legal, and the change of it that breaks the rule: this to that
    ("target-isa", "power10", "xvf32gerpp a0,vs34,vs35", "power10", "power9"),
    ("target-isa", "power9", "lxv vs34,16(r3)", "power9", "power8"),
    ("target-isa", "power10", "lxvp vs34,16(r3)", "power10", "power9"),
    ("accumulator-range", "power10", "xvf32gerpp a7,vs34,vs35", "a7", "a8"),
    ("accumulator-range", "power10", "xxmtacc a7", "a7", "a8"),
    ("vsr-range", "power10", "xvf32gerpp a0,vs63,vs35", "vs63", "vs64"),
    ("gpr-range", "power10", "lxv vs34,16(r31)", "r31", "r32"),
    ("gpr-range", "power10", "lxvx vs34,r3,r31", "r31", "r32"),
    ("mask-range", "power10", "pmxvf32gerpp a0,vs34,vs35,15,15", "15,15", "16,15"),
    ("mask-range", "power10", "pmxvf64ger a0,vs34,vs35,15,3", "15,3", "15,4"),
    ("mask-range", "power10", "pmxvi4ger8 a0,vs34,vs35,15,15,255", "255", "256"),
    ("mask-range", "power10", "pmxvf16ger2 a0,vs34,vs35,15,15,3", "15,3", "15,4"),
    ("mask-missing", "power10", "pmxvi8ger4 a0,vs34,vs35,15,15,15", ",15,15,15", ",15,15"),
    ("mask-unexpected", "power10", "xvf32gerpp a0,vs34,vs35", "vs35", "vs35,15"),
    ("mask-unexpected", "power10", "pmxvf32gerpp a0,vs34,vs35,15,15", "15,15", "15,15,1"),
    ("odd-pair", "power10", "xvf64ger a0,vs34,vs36", "vs34", "vs33"),
    ("odd-pair", "power10", "lxvp vs34,16(r3)", "vs34", "vs33"),
    ("vsr-overlap", "power10", "xvf32gerpp a1,vs8,vs35", "vs8", "vs7"),
    ("vsr-overlap", "power10", "xvf32gerpp a1,vs35,vs8", "vs8", "vs4"),
    ("immediate-range", "power10", "lxv vs34,32752(r3)", "32752", "32768"),
    ("immediate-range", "power10", "addi r3,r3,32767", "32767", "32768"),
    ("immediate-alignment", "power10", "lxv vs34,16(r3)", "16", "8"),
    ("immediate-alignment", "power10", "lxvp vs34,-16(r3)", "-16", "-8"),
)  # fmt: skip
"""Rule, target, a legal instruction, and what of all that is replaced by what."""
