"""Layouts compute what their digits say, and so does their text; registers hold what packings say."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...spec.formats import B1, E2M1, E3M2, F16, F64, S4, S8, TF32
from ...spec.fragment import Fragment, Packing, Selection
from ...spec.layout import Axis, Digit, Layout
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rearrangement import rearranged
from ..comparison import compared
from ..obligation import Certificate, Theorem
from ..stated import digits as stated
from ..table_theorem import table_theorem


def digit_layouts(isa: str) -> Theorem:
    """Return the theorem about layouts as sums of digits, whatever instruction set they are of.

    Parameters
    ----------
    isa : str
        The instruction set, the first word of the obligations' ids.

    Returns
    -------
    Theorem
        ``isa/stated/digits``, an obligation for each way in which layouts are used.
    """
    return table_theorem(
        f"{isa}/stated/digits",
        "listed layouts map points as their digits say, both ways, as does their text; registers hold fields",
        "of maps with bits that move, join, meet and are flipped, with digits of other radices, and of maps "
        "that are no bijections: the image of every point is the sum (of bits the xor) of its digits' "
        "images, the inverse goes back, the formula computes it, bijections are told from others; digits "
        "in another order; elements of any width in registers of 32 or 64 bits, and what selectors pick",
        "docs/architecture.md, layouts",
        lambda: {
            "maps": _maps,
            "text": _texts,
            "bijections": _bijections,
            "regrouped": _regrouped,
            "rearranged": _rearranged,
            "packed": _packed,
            "selected": _selected,
        },
    )


def _layout(name: str) -> Layout:
    row = stated.MAPS[name]
    return Layout(
        name,
        tuple(Axis(*axis) for axis in row.source),
        tuple(Axis(*axis) for axis in row.target),
        tuple(Digit(*digit) for digit in row.digits),
        row.origin,
        row.carries,
    )


def _maps() -> Certificate:
    expected: dict[tuple[str, str], object] = {}
    for name, row in stated.MAPS.items():
        images = [row.image(point) for point in row.points()]
        expected[name, "points"] = len(images)
        expected[name, "images"] = images
        expected[name, "of one point"] = images[-1]
        if row.one_to_one:
            expected[name, "back"] = list(row.points())
        elif not row.carries:
            within = [tuple(x % extent for x, (_, extent) in zip(image, row.target, strict=True))
                      for image in images]  # fmt: skip
            expected[name, "there again"] = within

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for name, row in stated.MAPS.items():
            layout = _layout(name)
            images = layout.images().reshape(-1, len(row.target))
            yield (name, "points"), layout.points
            yield (name, "images"), list(map(tuple, images.tolist()))
            yield (name, "of one point"), tuple(map(int, layout.forward(*row.last())))
            back = np.stack(layout.inverse(*images.T), axis=-1)
            if row.one_to_one:
                yield (name, "back"), list(map(tuple, back.tolist()))
            elif not row.carries:
                again = np.stack(layout.forward(*back.T), axis=-1)
                yield (name, "there again"), list(map(tuple, again.tolist()))

    return compared(expected, specified)


def _texts() -> Certificate:
    expected: dict[str, object] = {
        name: [row.image(point) for point in row.points()] for name, row in stated.MAPS.items()
    }
    expected |= {f"{name}, as text": text for name, text in stated.FORMULAS.items()}

    def specified() -> Mapping[str, object]:
        found: dict[str, object] = {f"{name}, as text": _layout(name).formula for name in stated.FORMULAS}
        for name, row in stated.MAPS.items():
            formulas = dict(part.split(" = ") for part in _layout(name).formula.split("; "))
            names = [axis for axis, _ in row.source]
            found[name] = [
                tuple(value(formulas[axis], dict(zip(names, point, strict=True))) for axis, _ in row.target)
                for point in row.points()
            ]
        return found

    return compared(expected, specified)


_OPERATORS: Mapping[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitXor: operator.xor, ast.RShift: operator.rshift,
}  # fmt: skip


def value(formula: str, names: Mapping[str, int]) -> int:
    """Return the number that a layout's formula is, as a reader computes it.

    Parameters
    ----------
    formula : str
        Sums, xors, products, shifts and masks of coordinates and numbers, as layouts print them.
    names : mapping of str to int
        The coordinates.

    Raises
    ------
    AssertionError
        If the formula has anything else.
    """

    def of(node: ast.expr) -> int:
        match node:
            case ast.BinOp(left, sign, right):
                found: int = _OPERATORS[type(sign)](of(left), of(right))
                return found
            case ast.Name(name):
                return names[name]
            case ast.Constant(int(number)):
                return number
        raise AssertionError(ast.dump(node))

    return of(ast.parse(formula.replace("·", " * "), mode="eval").body)


class _Mistaken(Layout):
    """A layout that does not map its last point as its digits say."""

    def forward(self, *coordinates: Any) -> tuple[Any, ...]:
        """Return the image, of the last point that of the first."""
        points = np.broadcast_arrays(*coordinates)
        is_last = np.all([x == axis.extent - 1 for x, axis in zip(points, self.source, strict=True)], axis=0)
        images = super().forward(*(np.where(is_last, 0, x) for x in points))
        return tuple(images)


class _Beyond(Layout):
    """A layout that maps its last point outside, from where it comes back."""

    def forward(self, *coordinates: Any) -> tuple[Any, ...]:
        """Return the image, of the last point further along the first coordinate."""
        points = np.broadcast_arrays(*coordinates)
        is_last = np.all([x == axis.extent - 1 for x, axis in zip(points, self.source, strict=True)], axis=0)
        first, *others = super().forward(*points)
        return first + is_last * self.target[0].extent, *others

    def inverse(self, *coordinates: Any) -> tuple[Any, ...]:
        """Return the point of an image, wherever that is."""
        first, *others = coordinates
        return super().inverse(first % self.target[0].extent, *others)


def _told(name: str, reason: str | None, is_due: str) -> str | bool:
    """Return whether there is no reason, or what it says."""
    if reason is None:
        return True
    return is_due if reason.startswith(f"{name}: ") and is_due in reason else reason


def _bijections() -> Certificate:
    expected: dict[str, object] = {
        name: (row.one_to_one or stated.DEFECTS[name],) * 2 for name, row in stated.MAPS.items()
    }
    mistaken = {
        name: f"({', '.join(f'{axis}={at}' for (axis, _), at in zip(row.source, row.last(), strict=True))})"
        for name, row in stated.MAPS.items()
        if row.one_to_one
    }
    mistakes = {"a mistake": _Mistaken, "a point outside": _Beyond}
    expected |= {
        f"{name}, with {what}": f"{point} goes to " for name, point in mistaken.items() for what in mistakes
    }

    def specified() -> Iterator[tuple[str, object]]:
        for name, row in stated.MAPS.items():
            layout, due = _layout(name), stated.DEFECTS.get(name, "")
            yield name, (_told(name, layout.rank_defect(), due), _told(name, layout.defect(), due))
            if row.one_to_one:
                fields = (layout.source, layout.target, layout.digits, layout.origin, layout.carries)
                for what, kind in mistakes.items():
                    said = kind(name, *fields).defect()
                    yield f"{name}, with {what}", _told(name, said, f"{mistaken[name]} goes to ")

    return compared(expected, specified)


def _regrouped() -> Certificate:
    expected: dict[str, object] = {}
    for name, (of, source, target) in stated.REGROUPED.items():
        row = stated.MAPS[of]
        images = [stated.joined(row.image(point), row.target) for point in row.points()]
        expected[name] = [stated.split(image, target) for image in images] if source else "refused"

    def specified() -> Iterator[tuple[str, object]]:
        for name, (of, source, target) in stated.REGROUPED.items():
            axes = source or (("x", 3), ("y", 8))
            try:
                regrouped = _layout(of).regrouped(
                    source=[Axis(*axis) for axis in axes], target=[Axis(*axis) for axis in target]
                )
            except ValueError:
                yield name, "refused"
            else:
                images = regrouped.images().reshape(-1, len(target))
                yield name, list(map(tuple, images.tolist()))

    return compared(expected, specified)


def _rearranged() -> Certificate:
    def specified() -> Iterator[tuple[str, object]]:
        for order, (source, target, extents) in stated.ORDERS.items():
            came, went = ([Axis(*axis) for axis in some] for some in (source, target))
            try:
                layout = rearranged("toy", came, went, order, **extents)
            except ValueError:
                yield order, None
            else:
                images = layout.images().reshape(-1, len(target))
                yield order, list(map(tuple, images.tolist()))

    return compared({order: stated.reordered(order) for order in stated.ORDERS}, specified)


# -- registers
_PACKINGS = (
    # format, bits of a container, lowest bit of an encoding
    (B1, 1, 0), (S4, 4, 0), (E2M1, 4, 0), (E2M1, 8, 2), (E3M2, 8, 0), (S8, 8, 0), (F16, 16, 0), (TF32, 32, 0),
    (F64, 64, 0),
)  # fmt: skip


def _packed() -> Certificate:
    expected: dict[tuple[str, int, int], object] = {}
    words = {32: [0x89ABCDEF, 0x01234567, 0xDEADBEEF], 64: [0x0123456789ABCDEF, 0xFEDCBA9876543210]}
    for fmt, container, low in _PACKINGS:
        width = 64 if container == 64 else 32
        elements = [stated.fields(word, low, container, fmt.bits, width) for word in words[width]]
        kept = sum((1 << fmt.bits) - 1 << low + at for at in range(0, width, container))
        count = width // container
        expected[fmt.name, container, low] = {
            "elements": [each for some in elements for each in some],
            "words": [word & kept for word in words[width]],
            "width": width,
            "registers": [count, 1, 3],
            "padding": ~kept & (1 << width) - 1,
            "places": [(at // count, at % count * container + low) for at in range(2 * count)],
        }

    def specified() -> Iterator[tuple[tuple[str, int, int], object]]:
        alg = NumpyAlgebra()
        for fmt, container, low in _PACKINGS:
            packing = Packing(fmt, container, low)
            registers = np.array(words[packing.word.bits], dtype=packing.word.storage)
            elements = packing.unpack(alg, registers)
            count = packing.per_register
            places = packing.places(np.arange(2 * count))
            yield (
                (fmt.name, container, low),
                {
                    "elements": elements.tolist(),
                    "words": packing.pack(alg, elements).tolist(),
                    "width": packing.word.bits,
                    "registers": [count, packing.registers(count), packing.registers(3 * count)],
                    "padding": packing.padding,
                    "places": list(zip(places["register"].tolist(), places["bit"].tolist(), strict=True)),
                },
            )

    return compared(expected, specified)


def _selected() -> Certificate:
    layout = Layout(
        "toy", (Axis("lane", 4), Axis("i", 4)), (Axis("half", 2), Axis("row", 2), Axis("column", 4)),
        (Digit(0, 1, 2, (0, 1, 0)), Digit(0, 2, 2, (0, 0, 2)), Digit(1, 1, 2, (1, 0, 0)),
         Digit(1, 2, 2, (0, 0, 1))),
    )  # fmt: skip
    fragment = Fragment(layout, Packing(S8, 8))
    digits = Digit(0, 1, 2, (2, 0)), Digit(1, 1, 2, (0, 1)), Digit(1, 2, 2, (0, 2)), Digit(1, 4, 2, (1, 0))
    wide = Fragment(
        Layout("toy", (Axis("lane", 2), Axis("i", 8)), (Axis("row", 4), Axis("column", 4)), digits),
        Packing(F16, 16),
    )
    words = np.array([0x03020100, 0x13121110, 0x23222120, 0x33323130], dtype=np.uint32)[:, None]
    number = np.zeros((2, 2, 4), dtype=int)
    for lane, i in np.ndindex(4, 4):
        number[i & 1, lane & 1, (lane >> 1) * 2 + (i >> 1)] = 16 * lane + i
    expected: dict[object, object] = {"all": (number.tolist(), words.tolist(), 32, (4, 1), (2, 2, 4), 4, 1)}
    expected["wide"] = (4, 4), 8, 4
    for half in (0, 1):
        written = words & (0x00FF00FF << 8 * half)
        expected[half] = number[half].tolist(), written.tolist()
        expected[half, "batch"] = [(number[half] + 1).tolist()] * 3, written.shape
        for row in (0, 1):
            only = np.where(np.arange(4)[:, None] % 2 == row, written, 0)
            expected[half, row] = number[half, row].tolist(), only.tolist()

    def specified() -> Iterator[tuple[object, object]]:
        alg = NumpyAlgebra()
        whole = Selection(fragment)
        matrix = whole.gather(alg, words)
        yield from {
            "all": (
                matrix.tolist(), whole.scatter(alg, matrix).tolist(), whole.word.bits, whole.words,
                fragment.shape, fragment.elements, fragment.registers,
            )
        }.items()  # fmt: skip
        yield "wide", (wide.shape, wide.elements, wide.registers)
        for half in (0, 1):
            picked = Selection(fragment, (half,))
            part = picked.gather(alg, words)
            yield half, (part.tolist(), picked.scatter(alg, part).tolist())
            batch = np.stack([part + np.uint8(1)] * 3)
            again = picked.scatter(alg, batch)
            yield (half, "batch"), (picked.gather(alg, again).tolist(), again.shape[1:])
            for row in (0, 1):
                line = Selection(fragment, (half, row))
                part = line.gather(alg, words)
                yield (half, row), (part.tolist(), line.scatter(alg, part).tolist())

    return compared(expected, specified)
