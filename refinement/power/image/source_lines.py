"""Source lines of instructions, from line programs of DWARF."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Any


class SourceLines:
    """The lines of an object file's code.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def source(self, address: int) -> str:
        """Return ``file:line`` of an address, if the file says it."""
        rows = self._rows
        index = bisect_right(rows, (address, chr(0x10FFFF))) - 1
        return rows[index][1] if index >= 0 else ""

    @cached_property
    def _rows(self) -> list[tuple[int, str]]:
        """Addresses from which on a line is meant, in order; an empty one ends a sequence."""
        from elftools.elf.elffile import ELFFile

        try:
            with self._path.open("rb") as stream:
                elf = ELFFile(stream)
                if not elf.has_dwarf_info():
                    return []
                information = elf.get_dwarf_info()
                rows = [row for unit in information.iter_CUs() for row in _of_unit(information, unit)]
        except Exception:  # a name for a place is no reason to fail
            return []
        return sorted(rows)


def _of_unit(information: Any, unit: Any) -> list[tuple[int, str]]:
    program = information.line_program_for_CU(unit)
    if program is None:
        return []
    found = []
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        where = "" if state.end_sequence else f"{_file(program, state.file)}:{state.line}"
        found.append((state.address, where))
    return found


def _file(program: Any, number: int) -> str:
    header = program.header
    files = header["file_entry"]
    index = number if header["version"] >= 5 else number - 1
    name = files[index].name if 0 <= index < len(files) else b"?"
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)
