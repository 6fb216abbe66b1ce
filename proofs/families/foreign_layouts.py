"""Layouts of operands in the notations of CuTe and Triton: as they are written, and what is said of others.

An instruction set names the operands that it has layouts of::

    THEOREMS = foreign_layouts("mfma", lambda: [("v_mfma_f32_32x32x8_f16", "a"), …])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from ...spec.foreign_layouts.against import Notation, compare_layout, written_layout
from ...spec.instruction_set import read
from ..comparison import compared
from ..obligation import Certificate, Theorem
from ..stated import foreign_layouts as stated
from ..table_theorem import answered, table_theorem
from .notations import notations, spelled_in_cute

Operands = Callable[[], Iterable[tuple[str, str]]]
"""Instructions and the names of their operands."""

Elements = dict[tuple[int, int], tuple[int, ...]]
"""The coordinates of what each owner holds, by the owner and which one of its elements it is."""

SOURCE = "CUTLASS, media/docs/cute/01_layout.md; Triton, LinearLayout.h"

REGISTER_BITS = 32


def foreign_layouts(isa: str, operands: Operands) -> tuple[Theorem, ...]:
    """Return the theorems about what is written for other tools, and what is told of their layouts.

    Parameters
    ----------
    isa : str
        The instruction set, the first word of the obligations' ids.
    operands : callable
        Returns operands whose extents are powers of two.

    Returns
    -------
    tuple of Theorem
        ``isa/foreign/notations``; ``isa/foreign/written``, an obligation for each notation;
        ``isa/foreign/verdicts``, one for each change.
    """
    written = table_theorem(
        f"{isa}/foreign/written",
        "layouts written in the notations of CuTe and Triton map each holder to its element",
        "∀ listed operands, ∀ holders: the text that is written has, by the formula of its notation, the "
        "coordinates that the layout of the instruction set names, and is found equal, however spelled; "
        "without strides it is as far equal as counting owners and then elements gives them",
        SOURCE,
        lambda: {notation.value: partial(_written, notation, operands) for notation in Notation},
    )

    verdicts = table_theorem(
        f"{isa}/foreign/verdicts",
        "of a layout with a changed vector it is told what it is, and which elements or holders are permuted",
        "∀ listed operands that are one matrix, ∀ vectors of their layouts: exchanged with the next one, a "
        "permutation, which is named, of whole registers where elements share them; zero, and elements are "
        "held twice; twice the matrix, and they are outside it",
        SOURCE,
        lambda: {change: partial(_verdicts, change, operands) for change in CHANGES},
    )

    return notations(isa), written, verdicts


def specified_elements(instruction: str, operand: str) -> Elements:
    """Return what each owner of an operand's elements holds."""
    table = read(instruction).layout(operand)
    owner, number, *_ = table.holders
    owners, numbers = table.holders[owner].tolist(), table.holders[number].tolist()
    coordinates = zip(*(coordinate.tolist() for coordinate in table.coordinates.values()), strict=True)
    return dict(zip(zip(owners, numbers, strict=True), coordinates, strict=True))


def by_strides(text: str, extents: Sequence[int], by_columns: bool) -> Elements:
    """Return what a layout in CuTe's notation maps (owner, element) to, by the notation's formula."""
    (owners, numbers), (of_owner, of_number) = stated.cute(text)  # type: ignore[misc]
    *leading, rows, columns = extents
    found: Elements = {}
    for number in range(stated.size(numbers)):
        for owner in range(stated.size(owners)):
            index = stated.index(owner, owners, of_owner) + stated.index(number, numbers, of_number)
            first, second = (columns, rows) if by_columns else (rows, columns)
            rest, place = divmod(index, first)
            rest, other = divmod(rest, second)
            outer = []
            for extent in reversed(leading):
                rest, coordinate = divmod(rest, extent)
                outer.append(coordinate)
            matrix = (other, place) if by_columns else (place, other)
            found[owner, number] = (*reversed(outer), *matrix)
    return found


def by_vectors(bases: stated.Bases, rank: int, owner: str, number: str) -> Elements:
    """Return what vectors give to (owner, element)."""
    owners, numbers = (1 << len(bases[name]) for name in (owner, number))
    return {
        at: stated.image(bases, dict(zip((owner, number), at, strict=True)), rank)
        for at in product(range(owners), range(numbers))
    }


def extents_of(instruction: str, operand: str) -> tuple[int, ...]:
    """Return the extents of an operand's coordinates."""
    return tuple(axis.extent for axis in read(instruction).layout(operand).axes)


def _names(instruction: str, operand: str) -> tuple[str, str]:
    """Return what vectors are called: of lanes those of elements are of registers."""
    owner, number, *_ = read(instruction).layout(operand).holders
    return owner, "register" if owner == "lane" else number


def _written(notation: Notation, operands: Operands) -> Certificate:
    expected: dict[object, object] = {}
    for each in operands():
        expected[each] = specified_elements(*each)
        expected[each, "compared"] = {"equal"}
        if notation is Notation.CUTE and len(extents_of(*each)) == 2:
            expected[each, "without strides"] = _without_strides(*each)
        if notation is Notation.LINEAR and len(extents_of(*each)) > 2:
            expected[each, "one matrix"] = "equal"

    def specified() -> Iterator[tuple[object, object]]:
        for instruction, operand in operands():
            text, extents = written_layout(instruction, operand, notation), extents_of(instruction, operand)
            names = _names(instruction, operand)
            compare = partial(compare_layout, instruction, operand)
            if notation is Notation.CUTE:
                said = by_strides(text, extents, _counts_columns(instruction, operand))
                spelled = list(spelled_in_cute(text))
                if len(extents) == 2:
                    verdict = compare(text.partition(":")[0]).verdict.value
                    yield ((instruction, operand), "without strides"), verdict
            else:
                said = by_vectors(stated.linear(text), len(extents), *names)
                spelled = [text, text.replace(" = ", ": ")]
                if len(extents) > 2:
                    one = compare(_of_one_matrix(instruction, operand)).verdict.value
                    yield ((instruction, operand), "one matrix"), one
            yield (instruction, operand), said
            yield ((instruction, operand), "compared"), {compare(each).verdict.value for each in spelled}

    return compared(expected, specified)


def _of_one_matrix(instruction: str, operand: str) -> str:
    """Return the vectors of one of several matrices: that every group of lanes holds, or of its elements."""
    elements, (owner, number) = specified_elements(instruction, operand), _names(instruction, operand)
    owners, numbers = _bits(elements)
    lanes = [[*elements[1 << bit, 0][-2:]] for bit in range(owners)]
    registers = [elements[0, 1 << bit] for bit in range(numbers)]
    kept = [[*vector[-2:]] for vector in registers if not any(vector[:-2])]
    return _text({owner: lanes, number: kept})


def _counts_columns(instruction: str, operand: str) -> bool:
    """Whether CuTe has an operand as (columns, rows): the (N, K) tile of B."""
    return operand == "b" and _names(instruction, operand)[0] == "lane"


def _without_strides(instruction: str, operand: str) -> str:
    """Return what the shape alone is: the strides that CuTe gives it count owners, and then elements."""
    rows, columns = extents_of(instruction, operand)
    elements = specified_elements(instruction, operand)
    owners = max(owner for owner, _ in elements) + 1
    for (owner, number), (row, column) in elements.items():
        index = row * columns + column if _counts_columns(instruction, operand) else row + column * rows
        if index != owner + number * owners:
            return "other-bijection"
    return "equal"


# -- changed vectors
CHANGES = ("exchanged", "zero", "outside")

_Changed = tuple[str, str, str | None]
"""A layout, what it is, and what is permuted."""


def _verdicts(change: str, operands: Operands) -> Certificate:
    expected: dict[object, object] = {
        (instruction, operand, text): (verdict, permutation)
        for instruction, operand in operands()
        if len(extents_of(instruction, operand)) == 2
        for text, verdict, permutation in _changed(change, instruction, operand)
    }

    def told(instruction: str, operand: str, text: str) -> object:
        comparison = compare_layout(instruction, operand, text)
        return comparison.verdict.value, comparison.permutation

    return answered(expected, told)


def _changed(change: str, instruction: str, operand: str) -> Iterator[_Changed]:
    table, extents = read(instruction).layout(operand), extents_of(instruction, operand)
    owner, number = _names(instruction, operand)
    called = {owner: f"{owner}s {{}}", number: f"{list(table.holders)[1]}s {{}} of every owner"}
    shared = max(1, REGISTER_BITS // table.bits) if owner == "lane" else 1
    elements = specified_elements(instruction, operand)
    bases = {
        name: [[*elements[(1 << bit, 0) if name == owner else (0, 1 << bit)]] for bit in range(bits)]
        for name, bits in zip((owner, number), _bits(elements), strict=True)
    }
    for name, basis in bases.items():
        for bit, vector in enumerate(basis):
            if change == "exchanged" and bit + 1 < len(basis):
                whole = name == number and 1 < shared <= 1 << bit
                permuted = "registers {}" if whole else called[name]
                pairs = _pairs(bit - (shared.bit_length() - 1) * whole, len(basis) - bit)
                swapped = [*basis[:bit], basis[bit + 1], vector, *basis[bit + 2 :]]
                yield _text({**bases, name: swapped}), "other-bijection", permuted.format(pairs)
            elif change == "zero":
                yield _text({**bases, name: [*basis[:bit], [0, 0], *basis[bit + 1 :]]}), "collision", None
            elif change == "outside":
                beyond = [extents[0], 0] if vector[0] else [0, extents[1]]
                yield _text({**bases, name: [*basis[:bit], beyond, *basis[bit + 1 :]]}), "out-of-range", None


def _bits(elements: Elements) -> tuple[int, int]:
    owners, numbers = (max(at[place] for at in elements) + 1 for place in (0, 1))
    return owners.bit_length() - 1, numbers.bit_length() - 1


_SHOWN = 8


def _pairs(bit: int, above: int) -> str:
    """Return the numbers, of so many bits from a bit on, that exchanging it with the next one exchanges."""
    numbers = range(1 << bit + above)
    pairs = [(x, x + (1 << bit)) for x in numbers if x >> bit & 1 and not x >> bit + 1 & 1]
    more = f" and {len(pairs) - _SHOWN} more cycles" if len(pairs) > _SHOWN else ""
    return "".join(f"({x} {y})" for x, y in pairs[:_SHOWN]) + more


def _text(bases: Mapping[str, Sequence[Sequence[int]]]) -> str:
    return f"{{{', '.join(f'{name} = {[*map(list, basis)]}' for name, basis in bases.items())}}}"
