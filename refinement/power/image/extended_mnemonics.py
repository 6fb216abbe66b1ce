"""Extended mnemonics of common instruction forms.

Source: Power ISA 3.1 Book I appendix C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

Operands = list[str]
"""Texts of operands, as a basic mnemonic has them."""

_TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        "nop": "ori 0,0,0", "li 2": "addi {0},0,{1}", "lis 2": "addis {0},0,{1}", "la 2": "addi {0},{1}",
        "subi 3": "addi {0},{1},-({2})", "subis 3": "addis {0},{1},-({2})", "subic 3": "addic {0},{1},-({2})",
        "subic. 3": "addic. {0},{1},-({2})", "mr 2": "or {0},{1},{1}", "mr. 2": "or. {0},{1},{1}",
        "not 2": "nor {0},{1},{1}", "not. 2": "nor. {0},{1},{1}", "sub 3": "subf {0},{2},{1}",
        "sub. 3": "subf. {0},{2},{1}", "subc 3": "subfc {0},{2},{1}", "subc. 3": "subfc. {0},{2},{1}",
        "blr": "bclr 20,0,0", "blrl": "bclrl 20,0,0", "bctr": "bcctr 20,0,0", "bctrl": "bcctrl 20,0,0",
        "bclr 2": "bclr {0},{1},0", "bcctr 2": "bcctr {0},{1},0", "bctrl 2": "bcctrl {0},{1},0",
        "mtlr 1": "mtspr 8,{0}", "mflr 1": "mfspr {0},8", "mtctr 1": "mtspr 9,{0}", "mfctr 1": "mfspr {0},9",
        "mtxer 1": "mtspr 1,{0}", "mfxer 1": "mfspr {0},1", "mtvrsave 1": "mtspr 256,{0}",
        "mfvrsave 1": "mfspr {0},256", "mtcr 1": "mtcrf 255,{0}", "mfcr 2": "mfocrf {0},{1}",
        "crclr 1": "crxor {0},{0},{0}", "crset 1": "creqv {0},{0},{0}", "crmove 2": "cror {0},{1},{1}",
        "crnot 2": "crnor {0},{1},{1}", "isellt 3": "isel {0},{1},{2},0", "iselgt 3": "isel {0},{1},{2},1",
        "iseleq 3": "isel {0},{1},{2},2", "dcbt 2": "dcbt {0},{1},0", "dcbtst 2": "dcbtst {0},{1},0",
        "paddi 3": "paddi {0},{1},{2},0", "pli 2": "paddi {0},0,{1},0", "pla 2": "paddi {0},0,{1},1",
        "rotld 3": "rldcl {0},{1},{2},0", "rotlw 3": "rlwnm {0},{1},{2},0,31",
        "xxmr 2": "xxlor {0},{1},{1}", "xxlnot 2": "xxlnor {0},{1},{1}",
        "xxspltd 3": "xxpermdi {0},{1},{1},3*({2})", "xxmrghd 3": "xxpermdi {0},{1},{2},0",
        "xxmrgld 3": "xxpermdi {0},{1},{2},3", "xxswapd 2": "xxpermdi {0},{1},{1},2",
        "xvmovdp 2": "xvcpsgndp {0},{1},{1}", "xvmovsp 2": "xvcpsgnsp {0},{1},{1}",
        "vmr 2": "vor {0},{1},{1}", "vnot 2": "vnor {0},{1},{1}",
        "mtvrd 2": "mtvsrd 32+({0}),{1}", "mtvrwa 2": "mtvsrwa 32+({0}),{1}",
        "mtvrwz 2": "mtvsrwz 32+({0}),{1}",
        "mfvrd 2": "mfvsrd {0},32+({1})", "mfvrwz 2": "mfvsrwz {0},32+({1})",
        "mtfprd 2": "mtvsrd {0},{1}", "mtfprwa 2": "mtvsrwa {0},{1}", "mtfprwz 2": "mtvsrwz {0},{1}",
        "mffprd 2": "mfvsrd {0},{1}", "mffprwz 2": "mfvsrwz {0},{1}", "lwsync": "sync 1,0",
        "hwsync": "sync 0,0",
        "sync": "sync 0,0", "bdnz 1": "bc 16,0,{0}", "bdz 1": "bc 18,0,{0}",
    }
)  # fmt: skip
"""By mnemonic and the number of operands, what a compiler means."""

_CONDITIONS = {
    "lt": (12, 0), "gt": (12, 1), "eq": (12, 2), "so": (12, 3), "un": (12, 3),
    "ge": (4, 0), "nl": (4, 0), "le": (4, 1), "ng": (4, 1), "ne": (4, 2), "ns": (4, 3), "nu": (4, 3),
}  # fmt: skip
_CONDITIONAL = re.compile(rf"b({'|'.join(_CONDITIONS)})(lr|ctr)?(l?)[+-]?")
_COMPARISON = re.compile(r"cmp(l?)([wd])(i?)")

Rotation = Callable[[int, int], tuple[int, ...]]
"""From the numbers of an extended mnemonic to those of a rotate instruction."""

_ROTATIONS: Mapping[str, tuple[str, Rotation]] = MappingProxyType(
    {
        "sldi": ("rldicr", lambda n, _: (n, 63 - n)),
        "srdi": ("rldicl", lambda n, _: (-n % 64, n)),
        "clrldi": ("rldicl", lambda n, _: (0, n)),
        "clrrdi": ("rldicr", lambda n, _: (0, 63 - n)),
        "rotldi": ("rldicl", lambda n, _: (n, 0)),
        "rotrdi": ("rldicl", lambda n, _: (-n % 64, 0)),
        "extldi": ("rldicr", lambda n, b: (b, n - 1)),
        "extrdi": ("rldicl", lambda n, b: ((b + n) % 64, 64 - n)),
        "insrdi": ("rldimi", lambda n, b: (64 - b - n, b)),
        "clrlsldi": ("rldic", lambda b, n: (n, b - n)),
        "slwi": ("rlwinm", lambda n, _: (n, 0, 31 - n)),
        "srwi": ("rlwinm", lambda n, _: (-n % 32, n, 31)),
        "clrlwi": ("rlwinm", lambda n, _: (0, n, 31)),
        "clrrwi": ("rlwinm", lambda n, _: (0, 0, 31 - n)),
        "rotlwi": ("rlwinm", lambda n, _: (n, 0, 31)),
        "rotrwi": ("rlwinm", lambda n, _: (-n % 32, 0, 31)),
        "extlwi": ("rlwinm", lambda n, b: (b, 0, n - 1)),
        "extrwi": ("rlwinm", lambda n, b: ((b + n) % 32, 32 - n, 31)),
        "inslwi": ("rlwimi", lambda n, b: (32 - b, b, b + n - 1)),
        "insrwi": ("rlwimi", lambda n, b: (32 - b - n, b, b + n - 1)),
        "clrlslwi": ("rlwinm", lambda b, n: (n, b - n, 31 - n)),
    }
)


def basic(mnemonic: str, operands: Sequence[str], number: Callable[[str], int]) -> tuple[str, Operands]:
    """Return mnemonic and operands of what an extended mnemonic stands for; others as they are.

    Parameters
    ----------
    mnemonic : str
        In lower case.
    operands : sequence of str
        Their texts.
    number : callable
        Reads a number.
    """
    given = list(operands)
    template = _TEMPLATES.get(f"{mnemonic} {len(given)}" if given else mnemonic)
    if template is not None:
        name, _, rest = template.format(*given).partition(" ")
        return name, rest.split(",") if rest else []
    if match := _CONDITIONAL.fullmatch(mnemonic):
        return _branch(match, given)
    if match := _COMPARISON.fullmatch(mnemonic):
        field = given.pop(0) if len(given) == 3 else "0"
        name = f"cmp{match[1]}{match[3]}"
        return name, [field, str(int(match[2] == "d")), *given]
    plain, dot = mnemonic.removesuffix("."), "." * mnemonic.endswith(".")
    if plain in _ROTATIONS and len(given) in (3, 4):
        name, rotation = _ROTATIONS[plain]
        first, second = number(given[2]), number(given[3]) if len(given) == 4 else 0
        return f"{name}{dot}", [*given[:2], *map(str, rotation(first, second))]
    if plain in ("rlwinm", "rlwimi", "rlwnm") and len(given) == 4:  # a mask in place of its two ends
        return mnemonic, [*given[:3], *map(str, _ends(number(given[3])))]
    if mnemonic == "mtcrf" and number(given[0]).bit_count() == 1:
        return "mtocrf", given
    return mnemonic.rstrip("+-"), given


def _branch(match: re.Match[str], given: Operands) -> tuple[str, Operands]:
    options, bit = _CONDITIONS[match[1]]
    to, links = match[2], match[3]
    has_target = to is None
    field = given.pop(0) if len(given) > int(has_target) else "0"
    condition = f"4*({field})+{bit}"
    if has_target:
        return f"bc{links}", [str(options), condition, *given]
    return f"bc{to}{links}", [str(options), condition, "0"]


def _ends(mask: int) -> tuple[int, int]:
    """Return the first and the last bit of a mask of 32, which may go around its end."""
    bits = f"{mask & 0xFFFFFFFF:032b}"
    if "1" not in bits:
        return 0, 31
    if "0" not in bits:
        return 0, 31
    if bits[0] == bits[31] == "1":
        return bits.rindex("0") + 1, bits.index("0") - 1
    return bits.index("1"), bits.rindex("1")
