"""Texts and executions of PTO are as the pages, the assembler and the headers have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.resources import files

import numpy as np

from ...spec.algebra import Array
from ...spec.errors import InputError, MmaproofError
from ...spec.instruction_set import instruction_set
from ...spec.pto.assembly import parse, parse_module
from ...spec.pto.resolution import resolve_known
from ...spec.pto.targets import PROFILES
from ...spec.pto.text.module import Other
from ...spec.pto.text.syntax import Region
from ..comparison import compared, refused, whole_numbers
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import executions

SOURCE = "PTO IR manual; pages of pto-isa; ptoas at a56b18c3"

PROFILE_NAMES = ("A2A3", "A5", "CPU")


def _lines(name: str) -> str:
    return files(f"{__package__}.stated").joinpath(name).read_text(encoding="utf-8")


def _listed(kind: str) -> list[tuple[str, str]]:
    """Return the texts of one kind, each with what it is printed as, its outline, or where it is refused."""
    found = []
    for block in _lines("texts.txt").split("=== ")[1:]:
        head, _, body = block.partition("\n")
        text, _, said = re.sub("\n--- (as|at)\n", "\n--- \n", body).partition("\n--- \n")
        if head == kind:
            found.append((text.rstrip("\n"), said.rstrip("\n")))
    return found


# -- texts
read_texts = table_theorem(
    "pto/stated/texts",
    "texts of every form are read, and printed in one spelling; what is listed as none is refused",
    "∀ listed texts: a text in the manual's spelling is printed as it was, another or MLIR's generic form as "
    "the one that is listed; statements begin where they are listed, inside of which others; what is listed "
    "as no text is refused where it is wrong; brackets nest 64 deep; tiles have the places, extents and "
    "orders that their types spell",
    SOURCE,
    lambda: {
        "kept": _kept,
        "printed": _printed,
        "outlines": _outlines,
        "refused": _no_texts,
        "nesting": _nesting,
        "tiles": _tiles,
    },
)


def _kept() -> Certificate:
    return answered({text: text + "\n" for text, _ in _listed("KEPT")}, lambda text: str(parse_module(text)))


def _printed() -> Certificate:
    return answered(dict(_listed("PRINTED")), lambda text: str(parse(text)))


def _outlines() -> Certificate:
    return answered(
        {text: tuple(said.splitlines()) for text, said in _listed("OUTLINE")},
        lambda text: tuple(_outline(parse_module(text).body)),
    )


def _outline(region: Region, depth: int = 0) -> Iterator[str]:
    """Yield a line for each statement: where it stands, how deep, what it is, and its text or its name."""
    for statement in region:
        text = f" {statement.name}" if isinstance(statement, Other) else ""
        if not statement.regions:
            text = f" | {str(statement).partition(chr(10))[0]}"
        yield f"{statement.line}:{statement.column} {'  ' * depth}{type(statement).__name__}{text}"
        for inner in statement.regions:
            yield from _outline(inner, depth + 1)


def _no_texts() -> Certificate:
    readers: dict[str, Callable[[str], object]]
    readers = {"REFUSED": parse_module, "REFUSED AS AN INSTRUCTION": parse}
    listed = {text: (read, at) for kind, read in readers.items() for text, at in _listed(kind)}
    return compared(
        {text: at for text, (_, at) in listed.items()},
        lambda: {text: _refused_at(read, text) for text, (read, _) in listed.items()},
    )


def _refused_at(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except InputError as error:
        place = re.match(r"line (\d+), column (\d+): ", str(error))
        return ":".join(place.groups()) if place else str(error)
    return "not refused"


def _nesting() -> Certificate:
    texts = {
        (opening, deep): f"x.y {opening * deep}{closing * deep}"
        for opening, closing in ("()", "[]")
        for deep in (1, 64, 65)
    }
    return compared(
        {(opening, deep): deep > 64 for opening, deep in texts},
        lambda: {key: refused(partial(parse_module, text)) for key, text in texts.items()},
    )


def _tiles() -> Certificate:
    def shown(text: str, profile: str) -> str:
        tiles = resolve_known(parse(f"pto.tmov ins(%s : {text}) outs(%t : {text})"), PROFILES[profile]).tiles
        tile = tiles["source"]
        valid = f"{tile.valid_rows}x{tile.valid_columns}"
        return (
            f"{tile.location} {tile.element} {tile.rows}x{tile.columns} valid {valid} "
            f"{tile.blocks} {tile.inner} {tile.fractal} pad {tile.pad.value} compact {tile.compact.value}"
        )

    return answered(executions.TILES, shown)


# -- execution
executed = table_theorem(
    "pto/stated/executed",
    "products and moves give the matrices of whole numbers, and buffers in the headers' orders",
    "D = A·B, + C, + bias, and A·B of scaled factors, on small whole numbers where every sum is exact; "
    "blocks that are extracted; loads, moves and stores between memory and tiles whose elements lie by "
    "blocks; on each profile",
    "pto-isa headers at 3186c381: TMATMUL, TGEMV, TLOAD, TMOV, TEXTRACT, TSTORE, pto_tile.hpp",
    lambda: {
        **{
            name: goal
            for profile in PROFILE_NAMES
            for name, goal in (
                (f"products/{profile}", partial(_products, profile)),
                (f"moves/{profile}", partial(_executed_moves, profile)),
            )
        },
        "refused": _no_arrays,
    },
)


def _run(
    text: str, profile: str, arrays: Mapping[str, Array], registers: bool = False
) -> Mapping[str, Array]:
    read = instruction_set("pto").read(text)
    return read.execute(arrays, as_registers=registers, rounding=None, choices=[], target=profile)


def _whole(array: Array) -> object:
    return array.astype(int).tolist()


def _product_operands(m: int, k: int, n: int, roles: tuple[str, ...]) -> dict[str, Array]:
    shapes = {"a": (2, m, k), "b": (k, n), "c": (2, m, n), "bias": (1, n)}
    found = {
        role: whole_numbers(shapes[role], 3, place) for place, role in enumerate(shapes) if role in roles
    }
    if "scale_a" in roles:
        found["scale_a"] = 2.0 ** whole_numbers((m, k // 32), 3, 5)
        found["scale_b"] = 2.0 ** whole_numbers((k // 32, n), 3, 6)
    return found


def _products(profile: str) -> Certificate:
    expected: dict[object, object] = {}
    for text, of_profiles, sizes, roles in executions.PRODUCTS:
        if profile not in of_profiles:
            continue
        given = _product_operands(*sizes, roles)
        a, b = given["a"], given["b"]
        if "scale_a" in roles:
            a = a * given["scale_a"].repeat(32, axis=-1)
            b = b * given["scale_b"].repeat(32, axis=-2)
        expected[text] = (8 * (a @ b + given.get("c", 0) + given.get("bias", 0))).astype(int).tolist()

    def specified() -> Mapping[object, object]:
        return {
            text: _whole(8 * _run(text, profile, _product_operands(*sizes, roles))["d"].astype(float))
            for text, of_profiles, sizes, roles in executions.PRODUCTS
            if profile in of_profiles
        }

    return compared(expected, specified)


def _offsets(rows: int, columns: int, order: str, block: tuple[int, int]) -> Array:
    """Return where elements lie: `order` is of the blocks and inside them, N by columns, Z or z by rows."""
    r, c = np.indices((rows, columns))
    high, wide = block
    blocks = (
        r // high * (columns // wide) + c // wide
        if order[0] == "Z"
        else c // wide * (rows // high) + r // high
    )
    inside = r % high * wide + c % wide if order[1] == "z" else c % wide * high + r % high
    return np.asarray(blocks * high * wide + inside)


def _buffer(matrix: Array, order: str, block: tuple[int, int]) -> Array:
    found = np.zeros(matrix.size, dtype=matrix.dtype)
    rows, columns = matrix.shape
    found[_offsets(rows, columns, order, block)] = matrix
    return found


def _executed_moves(profile: str) -> Certificate:
    encodings = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)
    left = "Zz" if profile == "A2A3" else "Nz"
    mat = _buffer(encodings, "Nz", (16, 16))
    block = encodings[16:48, 32:64]
    single = np.arange(32 * 48, dtype=np.uint32).reshape(32, 48) % 97 + 0x3F800000
    expected: dict[str, object] = {
        "load": _whole(mat),
        "move to left": _whole(_buffer(encodings, left, (16, 16))),
        "move to right": _whole(_buffer(encodings, "Zn", (16, 16))),
        "extract to left": _whole(_buffer(block, left, (16, 16))),
        "extract matrix": _whole(block),
        "store": _whole(single.ravel()),
        "load matrix": _whole(encodings),
    }

    def specified() -> Iterator[tuple[str, object]]:
        text, zeros = executions.MOVES, np.zeros(64 * 64, dtype=np.uint16)
        at = {"row": np.array(16), "column": np.array(32)}
        part = np.zeros(32 * 32, dtype=np.uint16)
        memory = {"source": encodings.ravel(), "target": zeros}
        tile = {"source": mat, "target": zeros}
        acc = {"source": _buffer(single, "Nz", (16, 16)), "target": np.zeros(32 * 48, dtype=np.uint32)}
        runs = {
            "load": ("load", memory, True),
            "move to left": ("move to left", tile, True),
            "move to right": ("move to right", tile, True),
            "extract to left": ("extract", {"source": mat, "target": part, **at}, True),
            "extract matrix": ("extract", {"source_bits": encodings, **at}, False),
            "store": ("store", acc, True),
            "load matrix": ("load", {"source_bits": encodings}, False),
        }
        for name, (which, arrays, registers) in runs.items():
            done = _run(text[which], profile, arrays, registers)
            yield name, _whole(done["target" if registers else "target_bits"])

    return compared(expected, specified)


def _no_arrays() -> Certificate:
    text = executions.PRODUCTS[0][0]
    a, b = np.zeros((32, 64)), np.zeros((64, 48))
    wrong: dict[str, dict[str, Array]] = {
        "missing": {"a": a},
        "shape": {"a": a, "b": b[:, :47]},
        "axes": {"a": a[0], "b": b},
        "values": {"a": a, "b": b + 0.1},
        "surplus": {"a": a, "b": b, "c": a},
        "batch": {"a": np.zeros((2, 32, 64)), "b": np.zeros((3, 64, 48))},
    }
    expected = {**dict.fromkeys(wrong, True), "taken": False, "insert": True, "extract outside": True}

    def refused(run: Callable[[], object]) -> bool:
        try:
            run()
        except MmaproofError:
            return True
        return False

    def specified() -> Mapping[str, bool]:
        found = {name: refused(partial(_run, text, "A5", arrays)) for name, arrays in wrong.items()}
        outside = {"source_bits": np.zeros((64, 64), np.uint16), "row": np.array(48), "column": np.array(0)}
        return found | {
            "taken": refused(partial(_run, text, "A5", {"a": a, "b": b})),
            "insert": refused(partial(_run, executions.INSERT, "A5", outside)),
            "extract outside": refused(partial(_run, executions.MOVES["extract"], "A5", outside)),
        }

    return compared(expected, specified)


THEOREMS = (read_texts, executed)
