"""A counterexample for people to read: every input in hexadecimal and as a value, then both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..proofs.replay import Counterexample


def counterexample_text(found: Counterexample) -> str:
    """Return a counterexample as text."""
    return "\n".join(_lines(found))


def _lines(found: Counterexample) -> Iterator[str]:
    for name, entry in found.inputs.items():
        yield from _input(name, entry)
    difference = found.difference
    if difference is None:
        yield "both sides are equal on these inputs"
        return
    index = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    yield f"{difference.label or 'result'}{index}:"
    if difference.left or difference.right:
        yield f"  left value  = {difference.left}"
        yield f"  right value = {difference.right}"


def _input(name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield an input, a matrix by rows."""
    shape, cells = entry["shape"], list(zip(entry["bits"], entry["values"], strict=True))
    if not shape:
        bits, value = cells[0]
        yield f"{name}: {entry['format']} = {bits} ({value})"
        return
    yield f"{name}: {entry['format']}[{', '.join(map(str, shape))}] ="
    columns = shape[-1]
    for start in range(0, len(cells), columns):
        yield "  " + "  ".join(f"{bits} ({value})" for bits, value in cells[start : start + columns])
