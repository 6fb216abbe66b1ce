"""The tables of ``wgmma``, its fragments and metadata, and where descriptors put elements.

Sources: PTX ISA 9.1 section 9.7.15 (shapes, types, syntax, fragments, metadata, matrix descriptor, canonical
layouts, swizzling modes); ptxas of CUDA 13.0. The addresses of `DESCRIBED` were computed with CuTe's layout
algebra and compared with the manual's tables of 16-byte chunks.
"""

from __future__ import annotations

from typing import NamedTuple

from ...text_tables import table
from .products import Entry

TARGETS = "90a"

ORDERS: tuple[Entry, ...] = (
    ("wgmma.fence.sync.aligned", (), ("8.0", TARGETS)),
    ("wgmma.commit_group.sync.aligned", (), ("8.0", TARGETS)),
    ("wgmma.wait_group.sync.aligned", ("N",), ("8.0", TARGETS)),
)

OR = "or"
"""Stands between the lists of operands that an instruction may have: A by a descriptor, A in registers."""


def columns(text: str) -> list[int]:
    """Return what N may be: ``8..256 by 8``, or the numbers."""
    if " by " not in text:
        return [int(number) for number in text.split()]
    ends, step = text.split(" by ")
    first, last = map(int, ends.split(".."))
    return list(range(first, last + 1, int(step)))


def wgmma() -> list[Entry]:
    """Return every ``wgmma``."""
    found = list(ORDERS)
    for row in table(__package__, "wgmma"):
        for sparse in (False, True) if row["sp"] else (False,):
            opcode, ptx = ("wgmma.mma_async.sp", row["sp"]) if sparse else ("wgmma.mma_async", row["PTX"])
            k = int(row["K"]) * (1 + sparse)
            metadata = ("metadata", f"selector {','.join(row['sel'].split())}") if sparse else ()
            for n in columns(row["N"]):
                for d in row["D"].split():
                    held = f"d {n // 4 if d == 'f16' else n // 2}"
                    lists = [
                        (held, a, "b-desc", *metadata, "scale-d", *_immediates(row["immediates"], of))
                        for a, of in (("a-desc", "ab"), ("a 4", "b"))
                    ]
                    operands = (*lists[0], OR, *lists[1])
                    for pair in row["A.B"].split():
                        for before, behind in _modifiers(row["more"]):
                            text = f"{opcode}.sync.aligned.m64n{n}k{k}{before}.{d}.{pair}{behind}"
                            found.append((text, operands, (ptx, TARGETS)))
    return found


def _immediates(text: str, transposed: str) -> list[str]:
    scales = ["scale-a -1,1", "scale-b -1,1"] if "scale" in text else []
    return scales + [f"trans-{role} 0,1" for role in transposed if "trans" in text]


def _modifiers(more: str) -> list[tuple[str, str]]:
    if more == "and":
        return [("", ".and.popc")]
    return [("", ""), (".satfinite", "")] if more == "satfinite" else [("", "")]


# -- fragments: thread 32·w + l, g = l / 4, t = l mod 4
def d_element(thread: int, i: int) -> tuple[int, int]:
    """Return row and column of element i of D that a thread holds."""
    w, g, t = thread // 32, thread % 32 // 4, thread % 4
    return 16 * w + g + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * t + i % 2


def a_element(bits: int, thread: int, i: int) -> tuple[int, int]:
    """Return row and column of element i of A that a thread holds in its four registers."""
    w, g, t = thread // 32, thread % 32 // 4, thread % 4
    of_register = 32 // bits
    register, j = i // of_register, i % of_register
    return 16 * w + g + 8 * (register % 2), of_register * t + j + 4 * of_register * (register // 2)


METADATA = ((16, 8, 2), (32, 8, 2), (8, 16, 1))
"""Bits of an element of A, chunks of a row, and selectors."""


def metadata_nibble(bits: int, selector: int, row: int, chunk: int) -> tuple[int, int]:
    """Return the thread that holds the nibble of a chunk, and which of its register's."""
    w, r = row // 16, row % 16
    if bits == 8:
        return 32 * w + 4 * (r % 8) + 2 * (chunk // 8) + r // 8, chunk % 8
    return 32 * w + 4 * (r % 8) + 2 * selector + chunk // 4, 4 * (r // 8) + chunk % 4


# -- descriptors
class Described(NamedTuple):
    """A descriptor: fields in bytes, bits, and addresses of seven elements of A or B.

    The elements are (0, 0), (1, 0), (3, K/2), (7, K-1), (8, 0), (13, 5) and (37, K-3).
    """

    bits: int
    transposed: bool
    swizzle: int
    start: int
    leading: int
    stride: int
    encoding: int
    addresses: tuple[int, ...]


DESCRIBED = tuple(
    Described(
        int(row["bits"]),
        row["major"] == "MN",
        int(row["swizzle"]),
        int(row["start"], 16),
        int(row["leading"]),
        int(row["stride"]),
        int(row["encoding"], 16),
        tuple(int(address, 16) for address in row["addresses"].split()),
    )
    for row in table(__package__, "descriptors")
)

USED_BITS = frozenset((*range(14), *range(16, 30), *range(32, 46), 62, 63))
"""Bits of a descriptor with a meaning that is known; a base offset, bits 49 to 51, is none."""


def canonical(
    swizzle: int, bits: int, transposed: bool, leading: int, stride: int, lines: int, length: int
) -> str:
    """Return the canonical layout of the manual's table in CuTe's notation, in elements of 8 bits or more.

    T elements are 16 bytes, w·T those of a swizzled row; the swizzle, one of bytes, is given in elements.
    """
    size = bits // 8
    t, w, lbo, sbo = 16 // size, max(swizzle // 16, 1), leading // size, stride // size
    if not transposed:
        step = lbo if not swizzle else t
        plain = f"((8,{lines // 8}),({t},{length // t})):(({w * t},{sbo}),(1,{step}))"
    elif swizzle:
        m = max(1, lines // (w * t))
        plain = f"(({t},{w},{m}),(8,{length // 8})):((1,{t},{lbo}),({w * t},{sbo}))"
    else:
        plain = f"(({t},{lines // t}),(8,{length // 8})):((1,{sbo}),({t},{lbo}))"
    if not swizzle:
        return plain
    return f"Swizzle<{ {32: 1, 64: 2, 128: 3}[swizzle] },{ {1: 4, 2: 3, 4: 2}[size] },3> o {plain}"
