"""Matrix instructions that are known to exist, but not specified here: a question about one has no answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .errors import UnsupportedError
from .ptx.opcode_table import opcode_of

NOT_MODELLED: Mapping[str, str] = MappingProxyType(
    {
        r"(cute::)?SM90_\d+x\d+x\d+_\w+_[SR]S": "CuTe's names of products of a warpgroup: write wgmma",
        r"(cute::)?SM1[02]\d_(MMA|\d+x\d+x\d+)_\w+": "CuTe's names of sm_100 and later: write the PTX",
        r"(llvm\.)?nv(vm|gpu)\.": "LLVM's and MLIR's names; the PTX that they become is modelled",
        r"dp[24]a(?![.\w])": "dot products of bytes in one thread (PTX ISA 9.7.1), without their types",
        r"[HIDBQ]G?MMA\b": "machine code of NVIDIA's tensor cores; the PTX that it is made from is modelled",
        r"v_smfmac_": "products of AMD CDNA whose A is sparse",
        r"v_s?wmmac?_": "matrix products of AMD RDNA",
        r"(tdp[a-z0-9]+|amx)\b": "products of tiles of Intel AMX",
        r"([su]s?mmla|bfmmla|[a-z]*mop[as]|sme)\b": "matrix products of Arm, NEON, SVE and SME",
    }
)
"""How they begin, and what they are."""

_GUARD = re.compile(r"\s*(@!?[\w%$]+\s+)?")
"""What may stand in front: the guard of PTX."""


def refuse_unmodelled(text: str) -> None:
    """Refuse an instruction that is known, but not specified.

    Raises
    ------
    UnsupportedError
        If it is one.
    """
    written = _GUARD.sub("", text, count=1)
    for pattern, what in NOT_MODELLED.items():
        if re.match(pattern, written):
            raise UnsupportedError(f"{written.split(maxsplit=1)[0][:80]}: known, not modelled: {what}")


def isa_of_unmodelled(text: str) -> str | None:
    """Return the instruction set that an instruction belongs to of which nothing but the opcode is known."""
    return None if opcode_of(text) is None else "ptx"
