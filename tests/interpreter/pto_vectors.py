"""Instructions of the vector unit in the PTO interpreter: each computes its target's valid region."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from mmaproof.spec.formats import FloatFormat, Format
from mmaproof.spec.pto.movers import pad_encoding
from mmaproof.spec.pto.targets import Profile
from mmaproof.spec.pto.tile import Location

from .pto_numbers import BINARY, UNARY, converted, decoded, encoded, summed
from .pto_tiles import BrokenError, Buffer, Words

_VALUE = re.compile(r"%[\w$.]+(?:#\d+)?")


def vector(
    profile: Profile, name: str, text: str, value: Callable[[str], Any]
) -> tuple[str, Callable[[], None]]:
    """Return the pipe of an instruction, and what it does when it runs."""
    groups = re.search(r"(?:ins\s*\((.*)\)\s*)?outs\s*\((.*?):", text, re.DOTALL)
    if groups is None:
        raise BrokenError(f"no meaning for {name}")
    inputs = re.sub(r"\{[^{}]*\}", "", (groups[1] or "").partition(" : ")[0])
    given = [value(each) for each in _VALUE.findall(inputs)]
    given = [each.snapshot() if isinstance(each, Buffer) else each for each in given]
    target = value(_VALUE.findall(groups[2])[0]).snapshot()
    mode = next(iter(re.findall(r"rmode\s*=\s*#pto<?\.?\s*(?:round_mode)?\W*(\w+)", text)), "RINT")
    pipe = "MTE2" if name == "tfillpad" and target.tile.location is Location.MAT else "V"
    return pipe, lambda: _Vector(profile, name, given, target, mode).run()


class _Vector:
    """One instruction, its operands found."""

    def __init__(self, profile: Profile, name: str, given: list[Any], target: Buffer, mode: str) -> None:
        self.profile, self.name, self.given, self.target, self.mode = profile, name, given, target, mode

    def run(self) -> None:
        """Do it."""
        if self.name == "tfillpad":
            self._pad()
            return
        rows, columns = np.indices(self.target.valid)
        self.target.write(self.profile, rows, columns, self._computed(rows, columns))

    def _computed(self, rows: Any, columns: Any) -> Words:
        name, given, fmt = self.name.removeprefix("t"), self.given, _format(self.target)
        expanded = re.fullmatch(r"(row|col)expand(\w*)", name)
        reduced = re.fullmatch(r"(row|col)(sum|max|min)", name)
        if expanded is not None:
            line = (rows, 0 * columns) if expanded[1] == "row" else (0 * rows, columns)
            repeated = self._read(given[-1] if expanded[2] == "" else given[1], *line)
            if not expanded[2]:
                return repeated
            return self._binary(expanded[2], self._read(given[0], rows, columns), repeated, fmt)
        if reduced is not None:
            axis = 1 if reduced[1] == "row" else 0
            words = self._read(given[0], *np.indices(given[0].valid))
            if reduced[2] == "sum":
                lines = summed(words, fmt, axis)
            else:
                lines = encoded(getattr(np, reduced[2])(decoded(words, fmt), axis=axis), fmt)
            return lines[rows if axis else columns]
        if name == "expands":
            return np.broadcast_to(self._scalar(given[0], fmt), rows.shape)
        if name == "trans":
            return self._read(given[0], columns, rows)
        if name == "cvt":
            return converted(self._read(given[0], rows, columns), _format(given[0]), fmt, self.mode)
        if name in UNARY:
            return encoded(UNARY[name](decoded(self._read(given[0], rows, columns), fmt)), fmt)
        if name in BINARY:
            return self._binary(name, *(self._read(each, rows, columns) for each in given[:2]), fmt)
        if name[:-1] in BINARY and name.endswith("s"):
            sides = [
                self._read(each, rows, columns) if isinstance(each, Buffer) else self._scalar(each, fmt)
                for each in given[:2]
            ]
            return self._binary(name[:-1], *sides, fmt)
        raise BrokenError(f"no meaning for t{name}")

    def _binary(self, name: str, left: Words, right: Words, fmt: Format) -> Words:
        return encoded(BINARY[name](decoded(left, fmt), decoded(right, fmt)), fmt)

    def _read(self, tile: Buffer, rows: Any, columns: Any) -> Words:
        return tile.read(self.profile, *np.broadcast_arrays(rows, columns))

    def _scalar(self, number: Any, fmt: Format) -> Words:
        if isinstance(fmt, FloatFormat):
            return encoded(np.array([float(number)]), fmt)[0]
        return encoded(np.array([int(number)]), fmt)[0]

    def _pad(self) -> None:
        tile, (source,) = self.target.tile, self.given[:1]
        rows, columns = np.indices((tile.rows, tile.columns))
        inside = (rows < source.valid[0]) & (columns < source.valid[1])
        words = np.full(rows.shape, pad_encoding(tile.pad, _format(self.target)), dtype=np.uint64)
        words[inside] = self._read(source, rows[inside], columns[inside])
        self.target.write(self.profile, rows, columns, words)


def _format(tile: Buffer) -> Format:
    fmt = tile.tile.element.format
    if fmt is None:
        raise BrokenError("elements of no known encoding")
    return fmt
