"""Candidate functions of a program: those with Matrix-Multiply Assist instructions.

A stripped library has no names for most of its functions: that they begin is told by the table for unwinding
(``.eh_frame``), by names, and by calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..findings.candidate import Candidate
from .image.instruction_forms import forms
from .image.program import Image, Section


def candidates(image: Image) -> list[Candidate]:
    """Return the functions with matrix instructions, with how often each stands there, by address."""
    found: dict[int, int] = {}
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    starts = _starts(image)
    ordered = sorted(starts)
    for section in image.sections:
        if not section.executable:
            continue
        for address, mnemonic in _products(section):
            index = bisect_right(ordered, address) - 1
            start = ordered[index] if index >= 0 and ordered[index] >= section.address else section.address
            counts[start][mnemonic] += 1
            following = ordered[index + 1] if index + 1 < len(ordered) else section.end
            found[start] = starts.get(start, 0) or min(following, section.end) - start
    return [
        Candidate(_name(image, start), start, found[start], dict(counts[start].most_common()))
        for start in sorted(found)
    ]


def _name(image: Image, address: int) -> str:
    names = [function.name for function in image.functions if function.address == address]
    return names[-1] if names else f"{address:#x}"


def _products(section: Section) -> Iterable[tuple[int, str]]:
    """Yield address and mnemonic of each matrix instruction of a section."""
    words = np.frombuffer(bytes(section.data[: len(section.data) // 4 * 4]), dtype="<u4")
    prefixed = np.zeros(len(words), dtype=bool)
    prefixed[1:] = words[:-1] >> 26 == 1
    for form in forms().values():
        if form.specified is None or form.size != 32:
            continue
        mask, match = np.uint32(form.mask), np.uint32(form.match)
        here: NDArray[np.intp] = np.flatnonzero((words & mask) == match)
        for at in here.tolist():
            prefix = "pm" if prefixed[at] and form.specified.update is not None else ""
            yield section.address + 4 * at - 4 * bool(prefix), f"{prefix}{form.mnemonic}"


def _starts(image: Image) -> dict[int, int]:
    """Return where functions begin, and how many bytes they have where that is said."""
    found = dict.fromkeys(_called(image), 0)
    found |= _unwound(image)
    found |= {function.address: function.size for function in image.functions if function.is_function}
    return found


def _called(image: Image) -> Iterable[int]:
    """Yield the targets of calls."""
    for section in image.sections:
        if section.executable:
            words = np.frombuffer(bytes(section.data[: len(section.data) // 4 * 4]), dtype="<u4")
            calls = np.flatnonzero((words & np.uint32(0xFC000003)) == np.uint32(0x48000001))
            distance = (words[calls] & np.uint32(0x3FFFFFC)).astype(np.int64)
            distance[distance >= 1 << 25] -= 1 << 26
            targets = np.unique(section.address + 4 * calls + distance)
            yield from targets[(targets >= section.address) & (targets < section.end)].tolist()


_TABLE_ENCODING = bytes((1, 0x1B, 0x03, 0x3B))
"""How the table of ``.eh_frame_hdr`` begins: version 1, numbers of 4 bytes, relative to the table."""


def _unwound(image: Image) -> dict[int, int]:
    """Return the functions of the table for unwinding, with their bytes; none where it is not as expected."""
    by_name = {section.name: section for section in image.sections}
    header, frames = by_name.get(".eh_frame_hdr"), by_name.get(".eh_frame")
    if header is None or frames is None or bytes(header.data[:4]) != _TABLE_ENCODING:
        return {}
    count = min(int.from_bytes(header.data[8:12], "little"), (len(header.data) - 12) // 8)
    table = np.frombuffer(bytes(header.data[12 : 12 + 8 * max(count, 0)]), dtype="<i4")
    found = {}
    for start, frame in (header.address + table.reshape(-1, 2).astype(np.int64)).tolist():
        at = frame - frames.address + 12
        if 0 <= at <= len(frames.data) - 4:
            found[start] = int.from_bytes(frames.data[at : at + 4], "little")
    return found
