"""Reader of machine code listings by ``objdump -d``, with relocations by ``-r``."""

from __future__ import annotations

import re

from ....spec.errors import InputError
from .program import IMPORT_BYTES, IMPORTS, LINKED_IMPORTS, MOST_ADDRESS, Image, Section, Symbol

_CODE = re.compile(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(?:\t(.*))?")
_NAME = re.compile(r"([0-9a-f]{8,16}) <(.+)>:")
_RELOCATION = re.compile(r"\s+([0-9a-f]+): (R_PPC64_\w+)\s+(\S+)")
_FORMAT = re.compile(r".*file format (\S+)")
_CALLS = ("R_PPC64_REL24", "R_PPC64_REL24_NOTOC")
_NO_EFFECT = ("R_PPC64_PCREL_OPT", "R_PPC64_NONE", "R_PPC64_TOCSAVE", "R_PPC64_ENTRY")
_PLT = re.compile(r"bl\s+[0-9a-f]+ <(.+)@plt>")


def is_listing(text: str) -> bool:
    """Tell whether a text is a listing."""
    return any(_CODE.fullmatch(line) for line in text.splitlines()[:400])


def read_listing(text: str, path: str) -> Image:
    """Read a listing.

    Raises
    ------
    InputError
        If it is of another processor, or its addresses do not increase.
    """
    words: dict[int, int] = {}
    lines: dict[int, int] = {}
    names: list[tuple[str, int]] = []
    refusals: dict[int, str] = {}
    calls: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _CODE.fullmatch(line):
            address, data = int(match[1], 16), bytes.fromhex(match[2])
            if address % 4 or len(data) % 4 or address > MOST_ADDRESS:
                raise InputError(f"{line.strip()[:60]!r} has no words of 4 bytes", f"{path}:{number}")
            for at in range(0, len(data), 4):
                if address + at in words:
                    raise InputError(
                        f"address {address + at:#x} comes twice: give the listing of one section",
                        f"{path}:{number}",
                    )
                words[address + at] = int.from_bytes(data[at : at + 4], "little")
            lines[address] = number
            if plt := _PLT.match(match[3] or ""):
                calls[address] = plt[1]
        elif match := _NAME.fullmatch(line.strip()):
            names.append((match[2], int(match[1], 16)))
        elif match := _RELOCATION.fullmatch(line):
            at, kind, symbol = int(match[1], 16) & ~3, match[2], match[3]
            if kind in _CALLS:
                calls[at] = symbol
            elif kind not in _NO_EFFECT:
                refusals[at] = f"the address of {symbol}, which a listing does not have,"
        elif (match := _FORMAT.fullmatch(line)) and match[1] != "elf64-powerpcle":
            raise InputError(f"is a listing of {match[1]}, not of elf64-powerpcle", f"{path}:{number}")
    imports = _resolve(calls, words, dict(names))
    starts = sorted(address for _, address in names)
    symbols = tuple(
        Symbol(name, address, _size(address, starts, words), True, True) for name, address in names
    )
    return Image(path, tuple(_sections(words)), symbols, 0, imports, refusals, lines)


def _resolve(calls: dict[int, str], words: dict[int, int], names: dict[str, int]) -> dict[int, str]:
    """Make calls branch to functions of the listing, or to addresses that stand for those of others."""
    imports: dict[str, int] = {}
    start = IMPORTS if max(words) < IMPORTS else LINKED_IMPORTS
    for at, symbol in calls.items():
        name = symbol.partition("+")[0].partition("@")[0]
        target = names.get(name)
        if target is None:
            target = imports.setdefault(name, start + IMPORT_BYTES * len(imports))
        distance = target - at
        if at in words and abs(distance) < 1 << 25:
            words[at] = words[at] & ~0x3FFFFFC | distance & 0x3FFFFFC
    return {at: name for name, at in imports.items()}


def _size(address: int, starts: list[int], words: dict[int, int]) -> int:
    following = [start for start in starts if start > address]
    return (following[0] if following else max(words) + 4) - address


def _sections(words: dict[int, int]) -> list[Section]:
    """Return the code: a section for each run of addresses."""
    found: list[Section] = []
    for address in sorted(words):
        data = words[address].to_bytes(4, "little")
        if found and found[-1].end == address:
            found[-1].data.extend(data)
        else:
            found.append(Section(f"code at {address:#x}", address, bytearray(data), True, False, True))
    return found
