"""Reader of ELF files for Power: relocatable objects, executables, shared libraries.

Sections of a relocatable object lie one after the other from address 0 on, those of code first, so that
addresses are what objdump prints; the others have addresses of their own already.

Source: Power Architecture 64-bit ELF V2 ABI, version 1.4, chapter 3.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ....spec.errors import InputError
from .program import IMPORT_BYTES, IMPORTS, LINKED_IMPORTS, MOST_ADDRESS, Image, Section, Symbol
from .relocations import GOT_RELOCATIONS, Relocation, relocate

_EXECUTABLE, _ALLOCATED, _WRITABLE, _THREAD_LOCAL = 0x4, 0x2, 0x1, 0x400
_LOADER_OWNED = (".got", ".plt", ".toc", ".data.rel.ro", ".dynamic", ".init_array", ".fini_array", ".got.plt")
"""Writable sections that the loader fills in, and nobody changes."""

_DATA_START = 0x100_0000
"""Where sections of data begin in an object that is not linked, at least."""

_TOC_BIAS = 0x8000
_LOCAL_ENTRIES = (0, 0, 4, 8, 16, 32, 64, 0)
"""Bytes to the local entry point by the three bits of ``st_other``."""

_TOC_IS_LOST = 1
"""Those bits of functions that may leave anything in r2."""

_SYMBOL_TABLES = ("SHT_SYMTAB", "SHT_DYNSYM")
_MOST_BYTES = 1 << 30
"""Of all sections."""

_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_UNDEFINED, _RESERVED = 0, 0xFF00
"""Numbers of sections: none, and from here on those with a meaning of their own."""
_FUNCTION = 2
"""The type of a symbol in the low bits of ``st_info``; the others tell who sees it, 0 for nobody else."""

_RELATIVE, _GLOB_DAT, _JMP_SLOT, _ADDR64 = 22, 20, 21, 38


class _Entry(NamedTuple):
    """An entry of a symbol table, as the ABI names its parts."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_defined(self) -> bool:
        return _UNDEFINED < self.section < _RESERVED

    @property
    def local_entry(self) -> int:
        return _LOCAL_ENTRIES[self.other >> 5]


def _entries(elf: Any, table: Any) -> list[_Entry]:
    """Return the symbols of a table; far faster than pyelftools, of large libraries."""
    names = elf.get_section(table["sh_link"]).data()
    found = []
    for name, info, other, section, value, size in _SYMBOL.iter_unpack(_whole(table, _SYMBOL)):
        end = names.find(b"\0", name)
        text = names[name:end].decode(errors="replace") if 0 <= name <= end else ""
        found.append(_Entry(text, info, other, section, value, size))
    return found


def _whole(section: Any, entry: struct.Struct) -> bytes:
    data = bytes(section.data())
    return data[: len(data) // entry.size * entry.size]


def _relocations(section: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield offset, kind, number of the symbol, and addend."""
    for offset, info, addend in _RELOCATION.iter_unpack(_whole(section, _RELOCATION)):
        yield offset, info & 0xFFFFFFFF, info >> 32, addend


def read_object(path: Path) -> Image:
    """Read an ELF file.

    Raises
    ------
    InputError
        If it can't be read, is damaged, or is not for a little-endian Power processor.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as stream:
            try:
                elf = ELFFile(stream)
            except ELFError as error:
                raise InputError(f"is not an ELF file: {error}", str(path)) from None
            _check(elf, path)
            if elf["e_type"] == "ET_REL":
                return _relocatable(elf, path)
            return _linked(elf, path)
    except (InputError, MemoryError, RecursionError):
        raise
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from None
    except Exception as error:  # whatever a damaged file makes of the reader
        raise InputError(f"is a damaged ELF file ({type(error).__name__}: {error})", str(path)) from None


def is_object(start: bytes) -> bool:
    """Tell whether a file that starts so is an ELF file."""
    return start[:4] == b"\x7fELF"


def _check(elf: Any, path: Path) -> None:
    machine = str(elf["e_machine"]).removeprefix("EM_")
    if machine != "PPC64" or elf.elfclass != 64:
        raise InputError(f"is for {machine} ({elf.elfclass} bits), not for 64-bit Power", str(path))
    if not elf.little_endian:
        raise InputError("is big-endian; little-endian Power (ELFv2) is supported", str(path))
    if elf["e_flags"] & 3 == 1:
        raise InputError("is for the ELFv1 ABI; ELFv2 is supported", str(path))
    if elf["e_type"] not in ("ET_REL", "ET_EXEC", "ET_DYN"):
        raise InputError(f"is not an object, executable or shared library: {elf['e_type']}", str(path))


def _flags(section: Any) -> tuple[bool, bool]:
    flags = section["sh_flags"]
    return bool(flags & _EXECUTABLE), bool(flags & _WRITABLE)


def _contents(section: Any) -> bytearray:
    size = section["sh_size"]
    if size > _MOST_BYTES:
        raise InputError(f"section {section.name} has {size} bytes; at most {_MOST_BYTES}")
    if section["sh_type"] == "SHT_NOBITS":
        return bytearray(size)
    data = bytearray(section.data())
    if len(data) != size:
        raise InputError(f"section {section.name} is cut off: {len(data)} bytes of {size}")
    return data


# -- objects that are not linked
def _relocatable(elf: Any, path: Path) -> Image:
    numbered = list(enumerate(elf.iter_sections()))
    places = _placed(numbered, path)
    table = next((each for _, each in numbered if each["sh_type"] == "SHT_SYMTAB"), None)
    entries = [] if table is None else _entries(elf, table)
    end = max((place.end for place in places.values()), default=0)
    got = -(-max(end, IMPORTS + _DATA_START) // 256) * 256
    toc = next((place.address for place in places.values() if place.name == ".toc"), got) + _TOC_BIAS
    imports: dict[str, int] = {}
    values = [_value(entry, places, toc, imports) for entry in entries]
    refusals: dict[int, str] = {}
    slots: dict[int, int] = {}
    for _, each in numbered:
        if each["sh_type"] != "SHT_RELA" or each["sh_info"] not in places:
            continue
        target = places[each["sh_info"]]
        for offset, kind, number, addend in _relocations(each):
            if number >= len(values):
                raise InputError(f"a relocation of {target.name} names symbol {number}", str(path))
            value = values[number]
            if kind in GOT_RELOCATIONS:
                value = slots.setdefault(number, got + 8 * len(slots))
            local = entries[number].local_entry
            refused = relocate(target, Relocation(kind, offset, value, addend, toc, local))
            if refused:
                refusals[target.address + offset // 4 * 4] = refused
    sections = list(places.values())
    if slots:
        table_bytes = b"".join(values[number].to_bytes(8, "little") for number in slots)
        sections.append(Section(".got", got, bytearray(table_bytes), False, True, True))
    symbols = [
        _symbol(entry, value)
        for entry, value in zip(entries, values, strict=True)
        if entry.name and entry.is_defined and entry.section in places
    ]
    return _image(path, sections, symbols, toc, {at: name for name, at in imports.items()}, refusals)


def _placed(numbered: list[tuple[int, Any]], path: Path) -> dict[int, Section]:
    """Give the sections of an object addresses, by their numbers."""
    allocated = [
        (number, each)
        for number, each in numbered
        if each["sh_flags"] & _ALLOCATED and not each["sh_flags"] & _THREAD_LOCAL and each.name != ".eh_frame"
    ]
    if sum(each["sh_size"] for _, each in allocated) > _MOST_BYTES:
        raise InputError(f"has sections of more than {_MOST_BYTES} bytes", str(path))
    places: dict[int, Section] = {}
    address = 0
    for executable in (True, False):
        for number, each in allocated:
            code, writable = _flags(each)
            if code is not executable:
                continue
            alignment = max(1, each["sh_addralign"])
            address = -(-address // alignment) * alignment
            known = not writable or each.name.startswith(_LOADER_OWNED)
            places[number] = Section(each.name, address, _contents(each), code, writable, known)
            address += len(places[number].data)
        if executable:
            if address > IMPORTS:
                raise InputError(f"has {address} bytes of code; at most {IMPORTS}", str(path))
            address = IMPORTS + _DATA_START
    return places


def _value(entry: _Entry, places: Mapping[int, Section], toc: int, imports: dict[str, int]) -> int:
    """Return the address of a symbol; one that is not in the object gets one among the imports."""
    if entry.section == _UNDEFINED and entry.name == ".TOC.":
        return toc
    if not entry.is_defined:
        return imports.setdefault(entry.name, IMPORTS + IMPORT_BYTES * len(imports))
    return entry.value + (places[entry.section].address if entry.section in places else 0)


def _symbol(entry: _Entry, value: int) -> Symbol:
    is_function, is_global = entry.info & 15 == _FUNCTION, bool(entry.info >> 4)
    return Symbol(entry.name, value, entry.size, is_function, is_global, entry.other >> 5 != _TOC_IS_LOST)


# -- executables and libraries
def _linked(elf: Any, path: Path) -> Image:
    loaded = list(_loaded_sections(elf)) or list(_segments(elf))
    sections = sorted(loaded, key=lambda each: each.address)
    if not any(section.executable for section in sections):
        raise InputError("has no code", str(path))
    imports: dict[str, int] = {}
    for each in elf.iter_sections():
        if each["sh_type"] != "SHT_RELA" or not each["sh_flags"] & _ALLOCATED:
            continue
        table = elf.get_section(each["sh_link"])
        names = _entries(elf, table) if table["sh_type"] in _SYMBOL_TABLES else []
        _resolve(sections, names, _relocations(each), imports)
    symbols = [
        _symbol(entry, entry.value)
        for table in elf.iter_sections()
        if table["sh_type"] in _SYMBOL_TABLES
        for entry in _entries(elf, table)
        if entry.name and entry.is_defined
    ]
    first = next((section.address for section in sections if section.name == ".got"), 0)
    return _image(path, sections, symbols, first + _TOC_BIAS, {at: n for n, at in imports.items()}, {})


def _loaded_sections(elf: Any) -> Iterator[Section]:
    for section in elf.iter_sections():
        flags = section["sh_flags"]
        if not flags & _ALLOCATED or flags & _THREAD_LOCAL or not section["sh_size"]:
            continue
        code, writable = _flags(section)
        known = not writable or section.name in _LOADER_OWNED
        yield Section(section.name, section["sh_addr"], _contents(section), code, writable, known)


def _segments(elf: Any) -> Iterator[Section]:
    """Yield what is loaded of a file without sections."""
    for number, each in enumerate(elf.iter_segments()):
        if each["p_type"] != "PT_LOAD":
            continue
        if max(each["p_memsz"], each["p_filesz"]) > _MOST_BYTES:
            raise InputError(f"segment {number} has {each['p_memsz']} bytes; at most {_MOST_BYTES}")
        data = bytearray(each.data())
        data += bytes(each["p_memsz"] - len(data))
        writable = bool(each["p_flags"] & 2)
        yield Section(
            f"segment {number}", each["p_vaddr"], data, bool(each["p_flags"] & 1), writable, not writable
        )


def _resolve(
    sections: Sequence[Section],
    names: Sequence[_Entry],
    relocations: Iterable[tuple[int, int, int, int]],
    imports: dict[str, int],
) -> None:
    """Fill in the addresses that a loader fills in, with 0 for the address that the file is loaded at."""
    starts = [section.address for section in sections]
    for offset, kind, number, addend in relocations:
        if kind == _RELATIVE:
            value = addend
        elif kind in (_GLOB_DAT, _JMP_SLOT, _ADDR64) and number < len(names):
            entry = names[number]
            value = entry.value
            if entry.section == _UNDEFINED:
                value = imports.setdefault(entry.name, LINKED_IMPORTS + IMPORT_BYTES * len(imports))
            value += addend
        else:
            continue
        section = sections[bisect_right(starts, offset) - 1]
        at = offset - section.address
        if 0 <= at <= len(section.data) - 8:
            section.data[at : at + 8] = (value & (1 << 64) - 1).to_bytes(8, "little")


def _image(
    path: Path,
    sections: list[Section],
    symbols: list[Symbol],
    toc: int,
    imports: dict[int, str],
    refusals: dict[int, str],
) -> Image:
    ordered = tuple(sorted((section for section in sections if section.data), key=lambda each: each.address))
    for one, other in pairwise(ordered):
        if one.end > other.address:
            raise InputError(f"sections {one.name} and {other.name} overlap", str(path))
    if any(each.executable and each.end > MOST_ADDRESS for each in ordered):
        raise InputError(f"has code beyond address {MOST_ADDRESS:#x}, which is not supported", str(path))
    return Image(str(path), ordered, tuple(symbols), toc, imports, refusals)
