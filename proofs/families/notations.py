"""The notations of layouts: how each is spelled, and what is said of a fragment's layouts in them.

What reads and compares them knows no instruction set; a fragment is all it needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ...spec.element_table import ElementTable, element_table, fragment_table
from ...spec.foreign_layouts.against import compare_with_table
from ...spec.foreign_layouts.comparison import Comparison
from ...spec.formats import F16, F32
from ...spec.fragment import Fragment, Packing
from ...spec.layout import Axis, Digit, Layout
from ..comparison import refused
from ..obligation import Certificate, Theorem
from ..stated import foreign_layouts as stated
from ..stated import notations as fragments
from ..table_theorem import answered, table_theorem


def notations(isa: str) -> Theorem:
    """Return the theorem about the notations of layouts, whatever instruction set they are of.

    Parameters
    ----------
    isa : str
        The instruction set, the first word of the obligations' ids.

    Returns
    -------
    Theorem
        ``isa/foreign/notations``, an obligation for each list.
    """
    return table_theorem(
        f"{isa}/foreign/notations",
        "listed layouts in the notations of CuTe, Triton and tables are read as they are meant, and compared",
        "of the fragments of a product of 16 x 8 x 16: however its layout is spelled, it is found equal; "
        "with one stride changed it is outside, twice or otherwise held as the notation's formula says, and "
        "the stride that mends it is that one; ∀ listed layouts: the verdict and what is said of it; what is "
        "listed as no layout is refused",
        "CUTLASS, cute/atom/mma_traits_sm80.hpp; Triton, LinearLayout.h",
        lambda: {"spelled": _spelled, "strides": _strides, "said": _said, "refused": _refused},
    )


def _table(operand: str) -> ElementTable:
    vectors, extents = fragments.VECTORS[operand], fragments.EXTENTS[operand]
    number, owner = vectors
    digits = [
        Digit(axis, 1 << bit, 2, tuple(vector))
        for axis, name in enumerate((owner, number))
        for bit, vector in enumerate(vectors[name])
    ]
    layout = Layout(
        operand,
        (Axis(owner, 1 << len(vectors[owner])), Axis("i", 1 << len(vectors[number]))),
        tuple(map(Axis, ("block", "row", "chunk" if operand == "k" else "column")[-len(extents) :], extents)),
        tuple(digits),
    )
    title = f"{operand} of a product"
    if owner == "line":
        pitch = 1 << len(vectors[number])
        return element_table(
            title, "f32", 32, layout, lambda line, element: {"line": line, "offset": line * pitch + element}
        )
    if owner == "register":  # which belongs to no lane
        return element_table(
            title, "f32", 32, layout, lambda *at: dict(zip((owner, number), at, strict=True))
        )
    packing = Packing(F16, 16) if operand in "ab" else Packing(F32, 32)
    fragment = Fragment(layout, packing)
    table = fragment_table(title, fragment, number=_number(operand))
    return replace(table, served=fragments.SERVED.get(operand, 1))


def _number(operand: str) -> str:
    """Return what counts the elements of a holder: vectors are of registers with one element each."""
    number, *_ = fragments.VECTORS[operand]
    return "element" if number == "register" else number


def _compared(operand: str, text: str) -> Comparison:
    return compare_with_table(_table(operand), {"s": "a", "x": "scale_b"}.get(operand, operand), text)


def _spelled() -> Certificate:

    def told(operand: str, text: str) -> object:
        found = _compared(operand, text)
        return found.verdict.value, found.notes

    return answered(
        {
            (operand, text): ("equal", ())
            for operand in fragments.STRIDES
            for text in (
                *spelled_in_cute(fragments.STRIDES[operand]),
                *_as_tuples(fragments.STRIDES[operand]),
                *printed(fragments.VECTORS[operand]),
                *_rows(operand),
            )
        },
        told,
    )


def _rows(operand: str) -> Iterator[str]:
    """Yield a layout as tables that name every element."""
    vectors = fragments.VECTORS[operand]
    of_number, of_owner = vectors
    if of_owner == "thread":  # of a group: tables name lanes
        return
    elements = [
        (owner, number, *stated.image(vectors, {of_owner: owner, of_number: number}, 2))
        for owner in range(1 << len(vectors[of_owner]))
        for number in range(1 << len(vectors[of_number]))
    ]
    names = (of_owner, _number(operand), "row", "column")
    yield "\n".join([",".join(names), *(",".join(map(str, element)) for element in elements)])
    other = {"lane": "thread", "element": "i", "column": "col", "register": "reg"}
    header = ", ".join(other.get(name, name) for name in reversed(names))
    yield "\n".join([header, *(", ".join(map(str, element[::-1])) for element in elements)])
    entries = (dict(zip(names, element, strict=True)) for element in reversed(elements))
    listed = str(list(entries)).replace("'", '"')
    yield listed
    yield f'{{"elements": {listed}}}'


def _strides() -> Certificate:
    expected: dict[tuple[str, str], object] = {}
    for operand, text in fragments.STRIDES.items():
        extent = prod(fragments.EXTENTS[operand])
        _, owner = fragments.VECTORS[operand]
        for changed, said in with_changed_stride(text, (owner, _number(operand))):
            expected[operand, changed] = stated.verdict(images_of(changed), extent), said, text

    def told(operand: str, text: str) -> object:
        found = _compared(operand, text)
        return found.verdict.value, found.repair, found.expected

    return answered(expected, told)


def _said() -> Certificate:

    def verdict(operand: str, text: str, part: str) -> str:
        found = _compared(operand, text)
        lines = "\n".join(found.lines())
        needless = "expected:" in lines and (found.equal or found.expected is None)
        said = found.document()
        parts = ("witness", "permutation", "repair", "expected")
        whole = all(said[name] == getattr(found, name) for name in parts)
        whole &= said["equal"] is found.equal and said["notes"] == [*found.notes]
        return str(said["verdict"]) if part in lines and whole and not needless else lines

    return answered(
        {(operand, text, part): verdict for operand, text, verdict, part in fragments.SAID}, verdict
    )


def _refused() -> Certificate:
    def is_refused(operand: str, text: str) -> bool:
        return refused(lambda: _compared(operand, text))

    return answered(dict.fromkeys(fragments.REFUSED, True), is_refused)


# -- how layouts are spelled
def spelled_in_cute(text: str) -> Iterator[str]:
    """Yield a layout as CuTe prints it, and as C++ spells it."""
    shape, _, stride = text.partition(":")
    yield text
    spelled = [
        "".join(f"_{token}" if token.isdecimal() else token for token in _tokens(part))
        for part in (shape, stride)
    ]
    yield ":".join(spelled)
    shape, stride = (
        part.replace("(", f"{name}<").replace(")", "> ")
        for name, part in zip(("Shape", "Stride"), spelled, strict=True)
    )
    yield f"using Layout = Layout<{shape}, {stride}>;"
    shape, stride = (
        part.replace("(", f"make_{name}(")
        for name, part in zip(("shape", "stride"), text.split(":"), strict=True)
    )
    yield f"make_layout({shape}, {stride})"
    for constant in ("Int<{}>{{}}", "cute::Int<{}>()", "C<{}>{{}}"):
        numbers = ("".join(constant.format(t[1:]) if t[0] == "_" else t for t in _tokens(part))
                   for part in spelled)  # fmt: skip
        yield ":".join(numbers)


def _as_tuples(text: str) -> Iterator[str]:
    """Yield a layout with the other names that CuTe has for tuples of integers, and for an integer."""
    shape, stride = text.split(":")
    for name in ("Coord", "Step", "tuple"):
        parts = (part.replace("(", f"cute::{name}<").replace(")", ">") for part in (shape, stride))
        yield f"Layout<{', '.join(parts)}>"
    parts = (part.replace("(", "make_tuple(") for part in (shape, stride))
    yield f"cute::make_layout({', '.join(parts)})"
    parts = (
        "".join(f"constant<{t}>{{}}" if t.isdecimal() else t for t in _tokens(p)) for p in (shape, stride)
    )
    yield ":".join(parts)


def _tokens(text: str) -> list[str]:
    """Return the brackets, numbers and commas of a layout."""
    return text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()


def printed(bases: stated.Bases) -> Iterator[str]:
    """Yield vectors of a tile of 16 rows as Triton prints, and Gluon and people write them."""
    attribute = ", ".join(f"{name} = {basis}" for name, basis in bases.items())
    yield f"#ttg.linear<{{{attribute}, warp = [], block = []}}>"
    short = {"register": "reg"}
    gluon = ", ".join(f"{short.get(name, name)}_bases={basis}" for name, basis in bases.items())
    yield f"DistributedLinearLayout({gluon}, warp_bases=[], block_bases=[], shape=[16, 16])"
    yield f"{{{', '.join(f'{name}: {basis}' for name, basis in bases.items())}}}"
    others = {"register": "value", "lane": "thread"}
    yield "\n".join(
        f"{others.get(name, name)}={1 << bit} -> ({x}, {y})"
        for name, basis in bases.items()
        for bit, (x, y) in enumerate(basis)
    )
    lines = []
    for name, basis in bases.items():
        lines += [f" - {name}={1 << bit} -> ({x}, {y})" for bit, (x, y) in enumerate(basis)]
        lines += [] if basis else [f" - {name} is a size 1 dimension"]
    yield "\n".join([*lines, " - warp is a size 1 dimension", "where out dims are: [dim0 (size 16), dim1]"])
    turned = [
        f" - {name}={1 << bit} -> ({y}, {x})"
        for name, basis in bases.items()
        for bit, (x, y) in enumerate(basis)
    ]
    yield "\n".join([*turned, "where out dims are: [dim1 (size 16), dim0 (size 16)]"])


def with_changed_stride(
    text: str, holders: tuple[str, str] = ("lane", "element")
) -> Iterator[tuple[str, str]]:
    """Yield a layout with one stride changed, and what is to be said of it."""
    shape, _, stride = text.partition(":")
    parts, extents = _tokens(stride), [token for token in _tokens(shape) if token.isdecimal()]
    inner = shape[1:].index(")") if shape[1] == "(" else 0
    lanes = shape[: inner + 1].count(",") + 1
    places = [at for at, token in enumerate(parts) if token.isdecimal()]
    for number, (at, extent) in enumerate(zip(places, extents, strict=True)):
        if extent == "1":
            continue
        step = int(parts[at])
        wrong = (step + 1, 2 * step, step + 3)[number % 3]
        holder, place = (holders[0], number) if number < lanes else (holders[1], number - lanes)
        changed = f"{shape}:{''.join([*parts[:at], str(wrong), *parts[at + 1 :]])}"
        said = f"change the stride {wrong} (coordinate {place} of the {holder}) to {step}: {text}"
        yield changed, said


def images_of(text: str) -> list[int]:
    """Return the indices of all (lane, element) of a layout in CuTe's notation."""
    (lanes, numbers), (of_lane, of_number) = stated.cute(text)  # type: ignore[misc]
    return [
        stated.index(lane, lanes, of_lane) + stated.index(number, numbers, of_number)
        for lane in range(stated.size(lanes))
        for number in range(stated.size(numbers))
    ]
