"""A fragment of a 16x8x16 product, as CUTLASS and Triton write it, and what is said of other layouts.

Vectors and strides are those of the PTX manual's formulas, and verdicts those of the notations' formulas
and of docs/layout-notations.md: tests/proofs/test_notations_by_hand.py derives them by itself. What is said
beside a verdict is this project's own wording; which of several readings is the nearest, its own choice.

Sources: CUTLASS, include/cute/atom/mma_traits_sm80.hpp; Triton, LinearLayoutConversions.cpp (nvidiaMmaTile,
nvidiaDotToLinearLayout).
"""

from __future__ import annotations

from collections.abc import Mapping

from .foreign_layouts import image

VECTORS: Mapping[str, dict[str, list[list[int]]]] = {
    "a": {"register": [[0, 1], [8, 0], [0, 8]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]},
    "b": {"register": [[1, 0], [8, 0]], "lane": [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]]},
    "c": {"register": [[0, 1], [8, 0]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]},
    "v": {"field": [[0, 1], [0, 2]], "register": [[1, 0], [2, 0]]},
    "t": {"register": [[0, 1], [1, 0]], "thread": [[0, 2], [2, 0]]},
    "s": {"register": [[0, 1], [8, 0]], "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]},
    "u": {"register": [], "lane": [[1, 0], [0, 1]]},
    "x": {"register": [[1, 0], [2, 0]], "lane": [[0, 1], [0, 2]]},
    "o": {"element": [[0, 1], [0, 2]], "line": [[1, 0], [2, 0]]},
    "k": {"register": [[0, 0, 1]], "lane": [[0, 1, 0], [0, 2, 0], [1, 0, 0]]},
    "w": {"register": [[0, 0, 1], [0, 0, 2]], "lane": [[0, 1, 0], [0, 2, 0], [1, 0, 0], [2, 0, 0]]},
}
"""The (row, column) that each bit of the number of an element, and of its holder, adds: of A, B and C of the
product, of an accumulator in registers that belong to no lane, of a matrix that threads hold, of an A of
which every other element is stored, of one element for each lane, of factors of B's columns that serve two
elements each, of a buffer line by line, and, with their number first, of two matrices of chunks of K and of
four matrices."""

EXTENTS: Mapping[str, tuple[int, ...]] = {
    "a": (16, 16), "b": (16, 8), "c": (16, 8), "v": (4, 4), "t": (4, 4), "s": (16, 8), "u": (2, 2),
    "x": (4, 4), "o": (4, 4), "k": (2, 4, 2), "w": (4, 4, 4),
}  # fmt: skip

SERVED = {"s": 2, "x": 2, "k": 4}
"""Elements along K that one of an operand serves, or stands for."""

STRIDES = {
    "a": "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "b": "((4,8),(2,2)):((16,1),(8,64))",
    "c": "((4,8),(2,2)):((32,1),(16,8))",
    "v": "(4,4):(1,4)",
    "t": "((2,2),(2,2)):((8,2),(4,1))",
    "s": "((4,8),(2,2)):((32,1),(16,8))",
    "u": "(4,1):(1,0)",
    "x": "(4,4):(1,4)",
}
"""The same, as indices that count rows first, and columns first in B and its factors."""


def _nested(depth: int, extent: str = "", step: str = "") -> str:
    """Return the layout of C with lanes as deep in brackets as said, after coordinates of one point."""
    shape, stride = f"({extent}" * depth + "4" + ")" * depth, f"({step}" * depth + "32" + ")" * depth
    return f"(({shape},8),(2,2)):(({stride},1),(16,8))"


def _repeated(vectors: int) -> str:
    """Return vectors of registers, so many and all alike."""
    return f"{{register: [{', '.join(['[1, 0]'] * vectors)}]}}"


def _far(step: int) -> str:
    """Return the vectors of C, the last of its lanes with this step."""
    return f"{{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[{step},0]]}}"


def _printed(names: str, transposed: bool = False) -> str:
    """Return C's vectors as Triton prints them, with coordinates of these names, columns first."""
    lines = []
    for holder, basis in VECTORS["c"].items():
        for bit, (row, column) in enumerate(basis):
            dash = " " if bit else "-"
            place = (row, column) if transposed else (column, row)
            lines.append(f" {dash} {holder}={1 << bit} -> ({place[0]}, {place[1]})")
    return "\n".join((*lines, f"where out dims are: [{names}]"))


def _listed(operand: str, exchanged: tuple[int, int]) -> str:
    """Return a layout with two elements of every lane exchanged, as an object's list, the last first."""
    number, owner = VECTORS[operand].values()
    there = dict([exchanged, exchanged[::-1]])
    rows = []
    for lane in reversed(range(1 << len(owner))):
        for element in reversed(range(1 << len(number))):
            holders = {"register": there.get(element, element), "lane": lane}
            row, column = image(VECTORS[operand], holders, 2)
            rows.append(f'{{"lane": {lane}, "element": {element}, "row": {row}, "column": {column}}}')
    return f'{{"elements": [{", ".join(rows)}]}}'


_PADDED = "((4,8),{}(2,2)):((32,1),(16,8))"
"""Of 29 characters without blanks; 10000 are read, and 100000 of vectors."""

SAID: tuple[tuple[str, str, str, str], ...] = (
    # operand, layout, verdict, and what the lines say
    ("a", "((4,8),(2,2,2)):((32,1),(16,8))", "incongruent",
     "the shape (2,2,2) meets the stride (16,8)"),
    ("a", "((4,8),(2,2)):((32,1),(16,8))", "wrong-size",
     "it has 32 lanes of 4 elements; a of"),
    ("a", "((4,8),(2,2,2)):((32,1),(16,8,256))", "out-of-range",
     "lane 0, element 4 holds (row 0, column 16), which is outside the tile of 16 rows x 16 columns"),
    ("a", "((4,8),(2,2,2)):((32,-1),(16,8,128))", "out-of-range", "lane 4, element 0"),
    ("a", "((4,8),(2,2,2)):((0,1),(16,8,128))", "collision",
     "lane 0, element 0 and lane 1, element 0 hold (row 0, column 0), and 192 elements have too few holders, "
     "first (row 0, column 2)"),
    ("a", "((4,8),(2,2,2)):((32,1),(16,128,8))", "other-bijection",
     "lane 0, element 2 holds (row 0, column 8), specified is (row 8, column 0); 128 of 256 differ"),
    ("a", "((4,8),(2,2,2)):((32,1),(16,128,8))", "other-bijection",
     "permutation: registers (1 2)"),
    ("a", "{register: [[8,1],[8,0],[0,8]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     "permutation: elements (1 3)(5 7) of every owner"),
    ("u", "((2,2),1):((2,1),0)", "other-bijection", "permutation: lanes (1 2)"),
    ("c", "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,1]]}", "other-bijection",
     " differ\nrepair: change lane=16 -> [4, 1] to [4, 0]"),
    ("c", "{register: [[0,1],[8,2]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     " differ\nrepair: change register=2 -> [8, 2] to [8, 0]"),
    ("c", "{register: [[0,1],[8,2]], lane: [[0,2],[0,4],[1,0],[2,0],[4,1]]}", "other-bijection",
     "repair: change register=2 -> [8, 2] to [8, 0], lane=16 -> [4, 1] to [4, 0]"),
    ("c", "{register: [[8,0],[0,1]], lane: [[0,2],[0,4],[1,0],[2,0],[4,1]]}", "other-bijection",
     " differ\nexpected: register"),
    ("c", "{register: [[0,1],[8,2]], lane: [[0,4],[0,2],[1,0],[2,0],[4,0]]}", "other-bijection",
     " differ\nexpected: register"),
    ("s", "((4,8),(4,2)):((64,1),(16,8))", "equal", "note: equal, counting the uncompressed K"),
    ("s", "((4,8),(4,2)):((64,1),(32,8))", "out-of-range", "tile of 16 rows x 16 ks"),
    ("s", "((4,8),((2,2),2)):((64,1),((32,16),8))", "other-bijection",
     "permutation: elements (1 2)(5 6) of every owner"),
    ("c", "((4,8),(4,2)):((64,1),(16,8))", "wrong-size", "32 lanes of 8 elements"),
    ("c", _PADDED.format(" " * 9971), "equal", ""),
    ("c", _nested(14), "equal", ""), ("c", _nested(14, "1,", "0,"), "equal", ""),
    ("a", "((4,8),(2,2,2)):((32,1),((16,8),128))", "incongruent",
     "with the stride nested as the shape it is equal: ((4,8),(2,2,2)):((32,1),(16,8,128))"),
    ("a", "((4,8),(2,2,2)):((32,1),((16,128),8))", "incongruent",
     "the shape (2,2,2) meets the stride ((16,128),8) in ((4,8),(2,2,2)):((32,1),((16,128),8))\nexpected"),
    ("a", "{register: [[0,2],[8,0],[0,8]], lane: [[0,1],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     "permutation: columns (1 2)(5 6)(9 10)(13 14)"),
    ("a", "{register: [[1,0],[0,8],[8,0]], lane: [[2,0],[4,0],[0,1],[0,2],[0,4]]}", "other-bijection",
     "permutation: rows and columns are exchanged"),
    ("b", "((4,8),(2,2)):((2,16),(1,8))", "other-bijection",
     "note: it is equal if its index counts rows first, and not columns"),
    ("b", "((4,1,8),(2,1,2)):((16,7,2),(8,5,64))", "out-of-range",
     "change the stride 2 (coordinate 2 of the lane) to 1: ((4,1,8),(2,1,2)):((16,7,1),(8,5,64))"),
    ("a", "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}",
     "wrong-size", "it has 32 lanes of 4 registers"),
    ("a", "{register: [[0,1],[8,0],[0,8]], lane: [[0,2],[0,4],[1,0],[3,0],[4,0]]}",
     "other-bijection", "change lane=8 -> [3, 0] to [2, 0]"),
    ("a", "{register: [[0,1],[8,0],[0,8]], lane: [[0,2],[0,4],[1,0],[1,0],[4,0]]}",
     "collision", "change lane=8 -> [1, 0] to [2, 0]"),
    ("a", "{register: [[1,0],[0,8],[8,0]], lane: [[2,0],[4,0],[0,1],[0,2],[0,4]]}",
     "other-bijection", "it is equal if its coordinates are (column, row), not (row, column)"),
    ("c", "{register: [[0,1],[8,0],[16,0],[0,8]], "
     "lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "equal",
     "note: the tile of the instruction is repeated 4 times"),
    ("c", "{register: [[0,1],[8,0],[0,16]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "equal",
     "note: the tile of the instruction is repeated 2 times"),
    *(
        ("c", "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]], "
         f"{holder}: [[16,0]]}}", "equal", "note: the tile of the instruction is repeated 2 times")
        for holder in ("warp", "block", "cta")
    ),
    ("c", "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]], "
     "warp: [[16,0],[0,0]]}", "equal", "note: some registers, warps or blocks hold copies of others"),
    ("c", "{register: [[0,1],[8,0],[0,4]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}",
     "other-bijection", "register=4 -> [0, 4] is no step from one tile"),
    ("c", "{register: [[0,1],[8,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]], "
     "block: [[16,1]]}", "other-bijection", "block=1 -> [16, 1] is no step"),
    ("o", "{offset: [[0,1],[0,2],[1,0],[2,0]]}", "equal", "the tile of 4 rows x 4 columns is held"),
    ("o", "{offset: [[0,1],[1,0],[0,2],[2,0]]}", "other-bijection",
     "buffer 0, offset 2 holds (row 1, column 0), specified is (row 0, column 2); 8 of 16 differ\n"
     "permutation: offsets (2 4)(3 5)(10 12)(11 13) of every owner\n"
     "repair: change offset=2 -> [1, 0] to [0, 2], offset=4 -> [0, 2] to [1, 0]"),
    ("o", "{offset: [[0,1],[0,2],[1,0]]}", "wrong-size",
     "it has 1 buffers of 8 offsets; o of a product has 1 buffers of 16 offsets"),
    ("o", "(4,4):(4,1)", "equal", "the tile of 16 offsets"),
    ("o", "(4,4):(1,4)", "equal", "the tile of 4 rows"),
    ("o", "((2,2),4):((8,4),1)", "other-bijection", "permutation: rows (1 2)"),
    ("o", "offset,row,column\n16,0,0\n", "out-of-range", "line 2 of the layout: o of a product has no"),
    ("k", "((4,2),8):((1,0),4)", "equal", "the tile of 4 rows x 8 ks"),
    ("k", "((4,2),(2,4)):((1,0),(16,4))", "other-bijection",
     "lane 0, element 1 holds (row 0, k 4), specified is (row 0, k 1)"),
    ("w", "((4,4),4):((1,16),4)", "equal", "the tile of 4 blocks x 4 rows x 4 columns is held"),
    ("w", "((4,4),4):((1,0),4)", "equal", "the tile of 4 rows x 4 columns is held as specified for w of a"),
    ("w", "(4,4):(1,4)", "equal", "specified for w of a product (the 4 lanes of one group)"),
    ("w", "{register: [[0,1],[0,2]], lane: [[1,0],[2,0],[0,0],[0,0]]}", "equal", "the tile of 4 rows"),
    ("w", "{register: [[0,1],[0,2]], thread: [[1,0],[2,0]]}", "equal", "(the 4 lanes of one group)"),
    ("w", "{register: [[0,0,1],[0,0,2]], lane: [[0,1,0],[0,2,0],[1,0,0],[2,0,0]]}", "equal",
     "the tile of 4 blocks x 4 rows"),
    ("w", "{register: [[0,0,1],[0,0,2],[0,4,0]], lane: [[0,1,0],[0,2,0],[1,0,0],[2,0,0]]}", "equal",
     "note: the tile of the instruction is repeated 2 times"),
    ("w", "{register: [[0,1,0],[0,2,0]], lane: [[0,0,1],[0,0,2],[1,0,0],[2,0,0]]}", "other-bijection",
     "note: it is equal if its coordinates are (column, row), not (row, column)"),
    ("w", "{register: [[0,1],[0,2]], lane: [[1,0],[2,0],[0,0]]}", "wrong-size",
     "it has 8 lanes of 4 registers; w of a product (the 4 lanes of one group) has 4 threads"),
    ("w", "((4,4),4):((4,0),1)", "other-bijection",
     "note: it is equal if its index counts columns first, and not rows"),
    ("w", "((4,4),4):((1,16),5)", "out-of-range",
     "lane 1, element 3 holds (row 0, column 4), which is outside the tile of 4 rows x 4 columns"),
    ("a", "((4,8),(2,2,2)):((32,1),(8,16,128))", "other-bijection",
     "repair: change the strides 8 (coordinate 0 of the element) to 16, 16 (coordinate 1 of the element) to"),
    ("a", "((4,8),(2,2,2)):((32,1),(8,128,16))", "other-bijection",
     "permutation: elements (1 2 4)(3 6 5) of every owner\nexpected"),
    ("a", "{register: [[8,0],[0,1],[0,8]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     "repair: change register=1 -> [8, 0] to [0, 1], register=2 -> [0, 1] to [8, 0]"),
    ("a", "{register: [[8,0],[0,8],[0,1]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     "permutation: elements (1 2 4)(3 6 5) of every owner\nexpected"),
    ("a", "((4,8),(4,2,2)):((64,1),(16,8,256))", "wrong-size", "it has 32 lanes of 16 elements"),
    ("x", "(4,8):(1,4)", "wrong-size", "it has 4 lanes of 8 elements"),
    ("x", "(4,4):(4,1)", "other-bijection", "it is equal if its index counts rows first, and not columns"),
    ("c", "((4,8),4):((32,1),(16,8))", "incongruent", "the shape 4 meets the stride (16,8)"),
    ("c", "((4,8),(2,2)):((32,1),16)", "incongruent", "the shape (2,2) meets the stride 16"),
    ("c", "((4,8),(2,2)):((- 32,1),(16,8))", "out-of-range", "lane 1, element 0 holds (row 0, column -2)"),
    ("c", "((4,8),(2,2)):((-Int<32>{},1),(16,8))", "out-of-range", "holds (row 0, column -2)"),
    ("c", _far(12), "other-bijection", "permutation: rows (4 12)(5 13)(6 14)(7 15)"),
    ("c", "{register: [[0,1],[12,0]], lane: [[0,2],[0,4],[1,0],[2,0],[4,0]]}", "other-bijection",
     "permutation: rows (8 12)(9 13)(10 14)(11 15)"),
    ("a", "{register: [[0,1],[8,0],[0,8]], lane: [[0,4],[0,2],[1,0],[2,0],[4,0]]}", "other-bijection",
     "permutation: lanes (1 2)(5 6)(9 10)(13 14)(17 18)(21 22)(25 26)(29 30)\n"),
    ("a", "{register: [[0,1],[8,0],[0,8]], lane: [[0,2],[1,0],[0,4],[2,0],[4,0]]}", "other-bijection",
     "permutation: lanes (2 4)(3 5)(10 12)(11 13)(18 20)(19 21)(26 28)(27 29)\n"),
    ("b", "{register: [[1,0],[8,0]], lane: [[4,0],[2,0],[0,1],[0,4],[0,2]]}", "other-bijection",
     " and 4 more cycles\n"),
    ("c", _listed("c", (1, 2)), "other-bijection", "permutation: elements (1 2) of every owner"),
    ("c", '[{"lane": 40, "element": 0, "row": 0, "column": 0}]', "out-of-range", "row 1 of the layout: "),
    ("c", "lane,element,row,column\n0,0,2147483647,0\n", "out-of-range", "holds (row 2147483647, column 0)"),
    ("c", "(1024,1024):(1,1)", "wrong-size", "it has 1024 lanes of 1024 elements"),
    ("c", _repeated(20), "wrong-size", "it has 1 lanes of 1048576 registers"),
    *(
        ("c", f"((4,8),(2,2)):(({step},1),(16,8))", "out-of-range", "lane 1, element 0 holds")
        for step in (2**31, -(2**31))
    ),
    ("c", _far(2**31), "out-of-range", "lane 16, element 0 holds (row 2147483648, column 0)"),
    ("c", _far(4) + " " * (100_000 - len(_far(4))), "equal", ""),
    ("c", "lane,element,row,column\n0,0,0,0\n", "gap",
     "nobody holds (row 0, column 1), one of 127 such elements"),
    *(
        ("a", f"{header}\n0,5,0,0\n", "gap",
         "nobody holds (row 0, column 1), one of 255 such elements")
        for header in ("thread,value,row,col", "lane,index,row,column", "lane,i,row,column")
    ),
    ("c", "lane,element,row,column\n40,0,0,0\n", "out-of-range",
     "has no lane 40, element 0"),
    ("c", _printed("dim1 (size 8), dim0 (size 16)"), "equal", ""),
    ("c", _printed("column (size 8), row (size 16)"), "equal", ""),
    ("c", _printed("row (size 16), column (size 8)", transposed=True), "equal", ""),
    ("c", _printed("dim0 (size 16), dim1 (size 8)", transposed=True), "equal", ""),
    ("c", _printed("x (size 16), y (size 8)", transposed=True), "equal", ""),
)  # fmt: skip
"""Layouts in every notation, what they are, and a part of what is said of them."""

REFUSED: tuple[tuple[str, str], ...] = (
    # operand, layout
    ("o", "{lane: [[0,1]]}"), ("c", "lane,element,row,column\n0,0,0,0,0\n"),
    ("c", '[{"lane": 0, "element": 0, "row": 0, "column": 0}, {"lane": 0, "element": 1, "row": 0}]'),
    ("c", "lane,element,row,column\n0,0,21474836470,0\n"),
    ("c", "(1024,1025):(1,1)"), ("c", _repeated(21)), ("c", _far(2**31 + 1)), ("c", _far(-1)),
    ("c", _far(4) + " " * (100_001 - len(_far(4)))),
    *(("c", f"((4,8),(2,2)):(({step},1),(16,8))") for step in (2**31 + 1, -(2**31) - 1)),
    ("c", "(1000,1000,1000):(1,1,1)"), ("c", "((1000000000),1):((1),1)"), ("c", f"(32,8):({10**30},1)"),
    ("c", f"((4,8),(2,2)):(({10**10 - 1},1),(16,8))"),
    ("c", "(" * 100 + "1"), ("c", _nested(15)), ("c", _PADDED.format(" " * 9972)),
    ("c", _nested(15, "1,", "0,")),
    ("c", "((4,8),(2,2,2):((32,1),(16,8,128))"),
    ("c", "((4,8),(2,2)):((32,1),(16,8)"), ("c", "((4,8),"), ("c", "(4"), ("c", "((4,8),(2,2)):"),
    ("c", "((4,8),(2,2)):((32,1),(16,8)))"), ("c", "((4,8),0):((1,4),1)"), ("c", "32:1"),
    ("c", "(4,8,8):(1,4,32)"), ("c", "((4,8),x):((1,4),1)"), ("c", "Swizzle<3,3,3> o (32,8):(8,1)"),
    ("c", "{register: [[0,1]], lane: [[0,2,3]]}"), ("c", "{register: [[0,1,2]], lane: [[0,2,3]]}"),
    ("c", "{register: [[0,-1]]}"), ("c", _repeated(30)),
    ("c", "{thread: [[0,1]], lane: [[0,1]]}"), ("c", " - register=1 -> (0, 1)\n   register=4 -> (8, 0)"),
    ("c", "{offset: [[0,1]]}"), ("c", "lane,element,row,column\n0,0,0\n"),
    ("c", "lane,element,row,column\n0,0,0,0\n0,0,0,1\n"), ("c", "lane,element,row,column\n0,0,x,0\n"),
    ("c", 'lane,element,row,column\n"0"0,0,0,0\n'),
    ("c", "lane,element,row\n0,0,0\n"), ("c", "lane,element,row,column,colour\n0,0,0,0,1\n"),
    ("c", "lane,row,column\n0,0,0\n"), ("c", "[]"), ("c", "[1, 2]"), ("c", "[{"), ("c", ""),
    ("c", "anything at all"),
)  # fmt: skip
"""What is no layout in any notation: tests/proofs/test_refused_notations.py reads them by itself."""
