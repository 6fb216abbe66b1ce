"""Moves of PTO between buffers and memory: what the headers make of them.

Sources: pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TSTORE, pto_tile.hpp, cpu/TLoad.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from .buffers import Buffer, buffer, encoded, small_numbers, tile
from .names import operand
from .product_runs import ALL, NPU, Arrays, Run


def _of_move(
    name: str,
    operation: str,
    profiles: tuple[str, ...],
    source: str,
    target: str,
    moved: tuple[int, int],
    *,
    at: tuple[int, int] = (0, 0),
    zeros: tuple[int, int] | None = None,
    fill: int | None = None,
    apart: tuple[tuple[int, int] | None, tuple[int, int] | None] = (None, None),
    given: Mapping[str, list[int]] | None = None,
    choices: tuple[str, ...] = (),
    converted: Callable[[Buffer], Buffer] = lambda elements: elements,
    pad: str = "",
    blank: bool = False,
) -> Run:
    """Return a move of so many rows and columns from a place on; zeros are written up to an extent."""

    def text(profile: str) -> str:
        inputs = [("%s", str(operand(source, profile)))]
        if operation == "textract":
            inputs += [(str(at[0]), "index"), (str(at[1]), "index")]
        names, types = (", ".join(part) for part in zip(*inputs, strict=True))
        to = str(operand(target, profile))
        return f"pto.{operation} ins({names} : {types}) outs(%t : {to[:-1] + pad + '>' if pad else to})"

    def matrix(spelled: str, start: int) -> Buffer:
        extent, element = spelled.split()[1].rsplit("x", 1)
        rows, columns = map(int, extent.split("x"))
        return encoded(element, small_numbers(rows, columns, start))

    def held(spelled: str, profile: str, start: int, away: tuple[int, int] | None) -> Buffer:
        if spelled.startswith("view"):
            return matrix(spelled, start).ravel()
        found = tile(spelled, profile)
        elements = matrix(spelled, start)
        if away is not None:
            elements = elements[: away[0], : away[1]]
        return buffer(found, elements, apart=away)

    def arrays(profile: str) -> Arrays:
        rest = {name: np.array(numbers) for name, numbers in (given or {}).items()}
        if blank:
            return {"source": held(source, profile, 1, apart[0]), **rest}
        return {
            "source": held(source, profile, 1, apart[0]),
            "target": held(target, profile, 4, apart[1]),
            **rest,
        }

    def result(profile: str) -> Buffer:
        rows, columns = moved
        elements = converted(matrix(source, 1)[at[0] : at[0] + rows, at[1] : at[1] + columns])
        if zeros is not None:
            wide = np.zeros(zeros, dtype=elements.dtype)
            wide[:rows, :columns] = elements
            elements = wide
        before = held(target, profile, 4, apart[1]) if fill is None else fill
        if target.startswith("view"):
            whole = held(target, profile, 4, None).reshape(matrix(target, 4).shape)
            whole[:rows, :columns] = elements
            return whole.ravel()
        return buffer(tile(target, profile), elements, before, apart=apart[1])

    return Run(name, profiles, text, arrays, result, choices)


def _narrowed(elements: Buffer) -> Buffer:
    return elements.view(np.float32).astype(np.float16).view(np.uint16)


def _to_bfloat(elements: Buffer) -> Buffer:
    return (elements.view(np.uint32) >> 16).astype(np.uint16)


def _widened(elements: Buffer) -> Buffer:
    return elements.view(np.float16).astype(np.float32).view(np.uint32)


_VIEW = "view 20x40xf16"
_NZ, _ZN = "mat 64x64xf16 Nz", "mat 64x64xf16 Zn"

MOVES = (
    _of_move("load", "tload", NPU, _VIEW, f"{_NZ} valid=20x40", (20, 40), zeros=(20, 48)),
    _of_move("load to Zn", "tload", NPU, _VIEW, f"{_ZN} valid=20x40", (20, 40), zeros=(32, 40)),
    _of_move("load to a line", "tload", NPU, _VIEW, "vec 64x64xf16 ND valid=20x40", (20, 40)),
    _of_move(
        "load scale factors",
        "tload",
        ("A5",),
        "view 16x3xf8E8M0FNU",
        "mat 16x4xf8E8M0FNU Zz fractal=32 valid=16x3",
        (16, 3),
        zeros=(16, 4),
    ),
    _of_move("load and fill", "tload", ("CPU",), _VIEW, f"{_NZ} valid=20x40", (20, 40), fill=0),
    _of_move(
        "load and fill greatest",
        "tload",
        ALL,
        _VIEW,
        f"{_NZ} valid=20x40",
        (20, 40),
        fill=0x7C00,
        choices=("load-fill=buffer",),
        pad=", pad=2",
    ),
    _of_move("load only", "tload", ALL, _VIEW, f"{_NZ} valid=20x40", (20, 40), choices=("load-fill=none",)),
    _of_move(
        "load compact",
        "tload",
        NPU,
        _VIEW,
        f"{_NZ} valid=20x40 compact=1",
        (20, 40),
        zeros=(20, 48),
        apart=(None, (32, 48)),
    ),
    _of_move(
        "load of a run time",
        "tload",
        NPU,
        "view 20x40xf16",
        f"{_NZ} valid=?x?",
        (20, 40),
        zeros=(20, 48),
        given={"valid_target": [20, 40]},
    ),
    _of_move("load a blank tile", "tload", NPU, "view 64x64xf16", _NZ, (64, 64), blank=True),
    _of_move(
        "load and fill a blank tile",
        "tload",
        ALL,
        _VIEW,
        f"{_NZ} valid=20x40",
        (20, 40),
        fill=0,
        choices=("load-fill=buffer",),
        blank=True,
    ),
    _of_move(
        "store a blank memory", "tstore", ALL, "acc 32x48xf32 Nz", "view 32x48xf32", (32, 48), blank=True
    ),
    _of_move("move", "tmov", ALL, _NZ, "left 64x64xf16 L", (64, 64)),
    _of_move("move to a blank tile", "tmov", ALL, _NZ, "left 64x64xf16 L", (64, 64), blank=True),
    _of_move("transpose", "tmov", ALL, _NZ, "right 64x64xf16 Zn", (64, 64)),
    _of_move("move a part", "tmov", ALL, f"{_NZ} valid=20x40", "left 64x64xf16 L valid=20x40", (20, 40)),
    _of_move(
        "move compact",
        "tmov",
        ("A5",),
        f"{_NZ} valid=20x40",
        "left 64x64xf16 L valid=20x40 compact=1",
        (20, 40),
        apart=(None, (32, 48)),
    ),
    _of_move("extract", "textract", ALL, _NZ, "left 32x16xf16 L", (32, 16), at=(16, 48)),
    _of_move(
        "extract compact",
        "textract",
        ("A5",),
        "mat 64x64xf16 Nz valid=40x64 compact=1",
        "left 32x16xf16 L",
        (32, 16),
        at=(0, 16),
        apart=((48, 64), None),
    ),
    _of_move(
        "open rows of another number",
        "tmov",
        ("A5",),
        "acc 64x48xf32 Nz valid=?x48",
        "mat 64x48xf32 Nz valid=20x48",
        (20, 48),
        apart=((48, 48), None),
        given={"valid_source": [40, 48]},
    ),
    _of_move("extract a part", "textract", ALL, _NZ, "right 32x32xf16 Zn valid=20x10", (20, 10), at=(32, 16)),
    _of_move("bias", "tmov", NPU, "mat 1x32xf16 ND", "bias 1x32xf32 ND", (1, 32), converted=_widened),
    _of_move("narrow", "tmov", NPU, "acc 32x48xf32 Nz", "mat 32x48xf16 Nz", (32, 48), converted=_narrowed),
    _of_move(
        "narrow to bf16", "tmov", NPU, "acc 32x48xf32 Nz", "mat 32x48xbf16 Nz", (32, 48), converted=_to_bfloat
    ),
    _of_move(
        "open rows",
        "tmov",
        ("A5",),
        "acc 64x48xf32 Nz valid=?x48",
        "mat 64x48xf32 Nz valid=20x48",
        (20, 48),
        apart=((32, 48), None),
        given={"valid_source": [20, 48]},
    ),
    _of_move(
        "open rows are the tile's",
        "textract",
        ("A5",),
        "acc 64x48xf32 Nz valid=?x48",
        "mat 64x48xf32 Nz valid=20x48",
        (20, 48),
        given={"valid_source": [64, 48]},
    ),
    _of_move("store", "tstore", ALL, "acc 32x48xf32 Nz", "view 32x48xf32", (32, 48)),
    _of_move(
        "store narrowed", "tstore", NPU, "acc 32x48xf32 Nz", "view 32x48xf16", (32, 48), converted=_narrowed
    ),
    _of_move("store a part", "tstore", ALL, "acc 32x48xf32 Nz valid=20x40", "view 20x48xf32", (20, 40)),
    _of_move(
        "store compact",
        "tstore",
        NPU,
        "acc 64x48xf32 Nz valid=20x40 compact=1",
        "view 20x40xf32",
        (20, 40),
        apart=((32, 48), None),
    ),
)

REFUSED = (
    _of_move(
        "a part of a blank memory",
        "tstore",
        NPU,
        "acc 32x48xf32 Nz valid=20x40",
        "view 20x48xf32",
        (20, 40),
        blank=True,
    ),
    _of_move("a part of a blank", "tload", NPU, _VIEW, f"{_NZ} valid=20x40", (20, 40), blank=True),
    _of_move(
        "a part of a blank tile",
        "tmov",
        NPU,
        f"{_NZ} valid=20x40",
        "left 64x64xf16 L valid=20x40",
        (20, 40),
        blank=True,
    ),
    _of_move("beyond the rows", "textract", ALL, _NZ, "left 32x16xf16 L", (32, 16), at=(48, 0)),
    _of_move("beyond the columns", "textract", ALL, _NZ, "left 32x16xf16 L", (32, 16), at=(0, 64)),
    _of_move("before the rows", "textract", ALL, _NZ, "left 32x16xf16 L", (32, 16), at=(-16, 0)),
    _of_move("before the columns", "textract", ALL, _NZ, "left 32x16xf16 L", (32, 16), at=(0, -16)),
    _of_move("not aligned", "textract", NPU, _NZ, "left 32x16xf16 L", (32, 16), at=(8, 0)),
    _of_move(
        "rows of another number",
        "tmov",
        ("A5",),
        f"{_NZ} valid=?x64",
        "left 64x64xf16 L",
        (64, 64),
        given={"valid_source": [65, 64]},
    ),
)
"""What is refused on its profiles."""


def _extents(*numbers: int) -> Run:
    return _of_move("run time", "tload", ("A5",), "view 64x64xf16", f"{_NZ} valid=?x40", (20, 40),
                    given={"valid_target": list(numbers)})  # fmt: skip


EXTENTS = {
    "taken": (_extents(20, 40), False),
    "whole": (_extents(64, 40), False),
    "another static extent": (_extents(20, 41), True),
    "more than the tile": (_extents(65, 40), True),
    "one number": (_extents(20), True),
    "three numbers": (_extents(20, 40, 1), True),
    "none": (_of_move("run time", "tload", ("A5",), "view 64x64xf16", f"{_NZ} valid=?x40", (20, 40)), True),
}
"""Extents known at run time, and whether they are refused."""


# -- matrices
def _of_matrices(
    name: str,
    operation: str,
    source: str,
    target: str,
    given: tuple[int, ...],
    moved: tuple[int, int],
    *,
    at: tuple[int, int] = (0, 0),
    indices: bool = False,
    converted: Callable[[Buffer], Buffer] = lambda elements: elements,
    choices: tuple[str, ...] = (),
) -> Run:
    """Return a move of a matrix of an extent: so many rows and columns from a place on are its result."""
    element = source.split()[1].rsplit("x", 1)[1]
    rows, columns = given if len(given) == 2 else (1, given[0])
    matrix = encoded(element, small_numbers(rows, columns, 1))

    def text(profile: str) -> str:
        inputs = [("%s", str(operand(source, profile)))]
        if operation == "textract":
            places = ("%r", "%c") if indices else tuple(map(str, at))
            inputs += [(place, "index") for place in places]
        names, types = (", ".join(part) for part in zip(*inputs, strict=True))
        return f"pto.{operation} ins({names} : {types}) outs(%t : {operand(target, profile)})"

    def arrays(profile: str) -> Arrays:
        rest = {"row": np.array(at[0]), "column": np.array(at[1])} if indices else {}
        return {"source_bits": matrix.reshape(given), **rest}

    def result(profile: str) -> Buffer:
        return converted(matrix[at[0] : at[0] + moved[0], at[1] : at[1] + moved[1]])

    return Run(name, ALL, text, arrays, result, choices, matrices=True)


_OPEN = f"{_NZ} valid=?x?"
_SMALL = "left 32x16xf16 L"
_PART, _LEFT_PART = f"{_NZ} valid=20x40", "left 64x64xf16 L valid=20x40"


def _of_no_type(run: Run, view: str) -> Run:
    """Return a move whose view has another type, which does not say of which elements it is."""
    written = str(operand(view, "A5"))
    return replace(run, name=f"{run.name}, {view}", text=lambda on: run.text(on).replace(written, _NO_TYPE))


_NO_TYPE = "!pto.memref<...>"

MATRICES = (
    _of_no_type(
        _of_matrices("store anywhere", "tstore", "acc 32x48xf32 Nz", "view ?x?xf32", (32, 48), (32, 48)),
        "view ?x?xf32",
    ),
    _of_no_type(_of_matrices("load", "tload", _VIEW, f"{_NZ} valid=20x40", (20, 40), (20, 40)), _VIEW),
    _of_matrices("load", "tload", _VIEW, f"{_NZ} valid=20x40", (20, 40), (20, 40)),
    _of_matrices("load open", "tload", "view ?x?xf16", _OPEN, (20, 40), (20, 40)),
    _of_matrices("load of an open view", "tload", "view ?x40xf16", f"{_NZ} valid=20x40", (20, 40), (20, 40)),
    _of_matrices("load a part", "tload", "view 64x64xf16", f"{_NZ} valid=20x40", (64, 64), (20, 40)),
    _of_matrices(
        "load a stack", "tload", "view 2x10x40xf16", "vec 64x64xf16 ND valid=20x40", (20, 40), (20, 40)
    ),
    _of_matrices("move", "tmov", _PART, _LEFT_PART, (20, 40), (20, 40)),
    _of_matrices("move open", "tmov", _OPEN, "left 64x64xf16 L valid=?x?", (20, 40), (20, 40)),
    _of_matrices("extract", "textract", _NZ, _SMALL, (64, 64), (32, 16), at=(16, 48)),
    _of_matrices("extract at", "textract", _NZ, _SMALL, (64, 64), (32, 16), at=(32, 16), indices=True),
    _of_matrices("store", "tstore", "acc 32x48xf32 Nz valid=20x40", "view 20x40xf32", (20, 40), (20, 40)),
    _of_matrices("store to open memory", "tstore", "acc 32x48xf32 Nz", "view ?x?xf32", (32, 48), (32, 48)),
    _of_matrices(
        "store narrowed",
        "tstore",
        "acc 32x48xf32 Nz",
        "view 32x48xf16",
        (32, 48),
        (32, 48),
        converted=_narrowed,
    ),
)
"""Moves of matrices on every profile."""

NO_MATRICES = (
    _of_matrices("another extent", "tload", _VIEW, f"{_NZ} valid=20x40", (21, 40), (20, 40)),
    _of_matrices("wider", "tmov", _PART, _LEFT_PART, (20, 41), (20, 40)),
    _of_matrices("more than the tile", "tmov", _OPEN, "left 64x64xf16 L valid=?x?", (65, 40), (65, 40)),
    _of_matrices("a line", "tmov", _OPEN, "left 64x64xf16 L valid=?x?", (40,), (1, 40)),
    _of_matrices("beyond", "textract", _NZ, _SMALL, (64, 64), (32, 16), at=(48, 0), indices=True),
    _of_matrices("before", "textract", _NZ, _SMALL, (64, 64), (32, 16), at=(0, -16), indices=True),
    _of_matrices(
        "no value", "tmov", _PART, _LEFT_PART, (20, 40), (20, 40),
        choices=("conversion=unspecified",),
    ),
    _of_matrices(
        "no sum", "tmov", _PART, _LEFT_PART, (20, 40), (20, 40),
        choices=("accumulation=unspecified",),
    ),
)  # fmt: skip
"""What is refused on every profile."""
