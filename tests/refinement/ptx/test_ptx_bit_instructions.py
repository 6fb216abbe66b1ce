"""Logic, shifts, bit fields and permutations against strings of bits, on numbers and on data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ptx_instructions import THREADS, amounts, check, execute, signed, words

WIDTHS = [16, 32, 64]


def _word(width: int, name: str = "a") -> tuple[str, object]:
    return f"b{width}", words(width, ord(name))


def _bits(word: int, width: int) -> list[int]:
    return [word >> place & 1 for place in range(width)]


def _number(bits: list[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))


LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("opcode", LOGIC)
def test_logic_of_two_words(opcode: str, width: int) -> None:
    operands = {"a": _word(width), "b": _word(width, "b")}
    check(f"{opcode}.b{width} d, a, b;", operands, {"d": f"b{width}"}, LOGIC[opcode], data=[(), ("a", "b")])


@pytest.mark.parametrize("opcode", LOGIC)
def test_logic_of_predicates(opcode: str) -> None:
    rng = np.random.default_rng(3)
    operands = {name: ("pred", rng.integers(0, 2, THREADS)) for name in "ab"}
    text = f"{opcode}.pred p, a, b; not.pred q, a;"
    check(text, operands, {"p": "pred", "q": "pred"}, lambda a, b: (LOGIC[opcode](a, b), 1 - a))


@pytest.mark.parametrize("width", WIDTHS)
def test_complements(width: int) -> None:
    check(
        f"not.b{width} d, a; cnot.b{width} e, a;",
        {"a": (f"b{width}", words(width, 1) * (np.arange(THREADS) % 3 > 0))},
        {"d": f"b{width}", "e": f"b{width}"},
        lambda a: (a ^ (1 << width) - 1, int(a == 0)),
    )


@pytest.mark.parametrize("table", [0x00, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0xFF, 0x3C])
def test_lop3_looks_every_bit_up(table: int) -> None:
    def reference(a: int, b: int, c: int) -> int:
        rows = zip(_bits(a, 32), _bits(b, 32), _bits(c, 32), strict=True)
        return _number([table >> (4 * x + 2 * y + z) & 1 for x, y, z in rows])

    operands = {name: _word(32, name) for name in "abc"}
    check(f"lop3.b32 d, a, b, c, {table};", operands, {"d": "b32"}, reference)


@pytest.mark.parametrize("boolean", ["or", "and"])
def test_lop3_combines_with_a_predicate_whether_a_bit_is_set(boolean: str) -> None:
    rng = np.random.default_rng(4)
    operands = {
        "a": _word(32),
        "b": ("b32", 1 << rng.integers(0, 32, THREADS)),
        "q": ("pred", rng.integers(0, 2, THREADS)),
    }

    def reference(a: int, b: int, q: int) -> tuple[int, int]:
        return a & b, {"or": (a & b != 0) or not q, "and": (a & b != 0) and not q}[boolean]

    text = f"lop3.{boolean}.b32 d|p, a, b, 0, 0xC0, !q;"
    check(text, operands, {"d": "b32", "p": "pred"}, reference)


@pytest.mark.parametrize("width", WIDTHS)
def test_shifts_move_zeros_or_signs_in(width: int) -> None:
    operands = {"a": _word(width), "n": ("b32", amounts(width))}

    def reference(a: int, n: int) -> tuple[int, int, int]:
        n, ones = min(n, width), (1 << width) - 1
        return a << n & ones, a >> n, signed(a, width) >> n & ones

    text = f"shl.b{width} d, a, n; shr.u{width} e, a, n; shr.s{width} f, a, n;"
    check(text, operands, dict.fromkeys("def", f"b{width}"), reference, data=[(), ("a",), ("n",), ("a", "n")])


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(mode: str) -> None:
    def reference(a: int, b: int, n: int) -> tuple[int, int]:
        n = min(n, 32) if mode == "clamp" else n % 32
        both = b << 32 | a
        return (both << n) >> 32 & 0xFFFFFFFF, both >> n & 0xFFFFFFFF

    operands = {"a": _word(32), "b": _word(32, "b"), "n": ("b32", amounts(1))}
    text = f"shf.l.{mode}.b32 d, a, b, n; shf.r.{mode}.b32 e, a, b, n;"
    check(text, operands, {"d": "b32", "e": "b32"}, reference, data=[(), ("a", "b")])


@pytest.mark.parametrize("name", ["u32", "s32", "u64", "s64"])
def test_extracting_a_field(name: str) -> None:
    """The loop is that of the PTX ISA, section 9.7.1.19."""
    top = int(name[1:]) - 1

    def reference(a: int, position: int, length: int) -> int:
        position, length = position & 0xFF, length & 0xFF
        bits = _bits(a, top + 1)
        fill = 0 if name[0] == "u" or length == 0 else bits[min(position + length - 1, top)]
        inside = (index < length and position + index <= top for index in range(top + 1))
        return _number([bits[position + i] if there else fill for i, there in enumerate(inside)])

    operands = {"a": _word(top + 1), "b": ("b32", amounts(1)), "c": ("b32", amounts(2))}
    check(f"bfe.{name} d, a, b, c;", operands, {"d": f"b{top + 1}"}, reference, data=[(), ("a",)])


@pytest.mark.parametrize("width", [32, 64])
def test_inserting_a_field(width: int) -> None:
    """The loop is that of the PTX ISA, section 9.7.1.20."""

    def reference(a: int, b: int, position: int, length: int) -> int:
        bits = _bits(b, width)
        position, length = position & 0xFF, length & 0xFF
        for index in range(length):
            if position + index < width:
                bits[position + index] = a >> index & 1
        return _number(bits)

    operands = {"a": _word(width), "b": _word(width, "b"), "m": ("b32", amounts(1)), "n": ("b32", amounts(2))}
    check(f"bfi.b{width} d, a, b, m, n;", operands, {"d": f"b{width}"}, reference, data=[(), ("a", "b")])


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_masks_and_extension_from_a_width(mode: str) -> None:
    def mask(m: int, n: int) -> int:
        m, n = (min(each, 32) if mode == "clamp" else each % 32 for each in (m, n))
        return ((1 << n) - 1 << m) & 0xFFFFFFFF

    def extended(a: int, n: int) -> tuple[int, int]:
        n = min(n, 32) if mode == "clamp" else n % 32
        low = a & (1 << n) - 1
        return low, (signed(low, n) if n else 0) & 0xFFFFFFFF

    places = {"m": ("b32", amounts(1)), "n": ("b32", amounts(2))}
    check(f"bmsk.{mode}.b32 d, m, n;", places, {"d": "b32"}, mask, data=[()])
    operands = {"a": _word(32), "n": ("b32", amounts(2))}
    text = f"szext.{mode}.u32 d, a, n; szext.{mode}.s32 e, a, n;"
    check(text, operands, {"d": "b32", "e": "b32"}, extended, data=[(), ("a",)])


@pytest.mark.parametrize("width", [32, 64])
def test_reversing_and_counting(width: int) -> None:
    def reference(a: int) -> tuple[int, int]:
        return _number(_bits(a, width)[::-1]), a.bit_count()

    results = {"d": f"b{width}", "e": "b32"}
    check(f"brev.b{width} d, a; popc.b{width} e, a;", {"a": _word(width)}, results, reference)


@pytest.mark.parametrize("width", [32, 64])
def test_finding_the_highest_bit(width: int) -> None:
    def reference(a: int) -> tuple[int, int, int, int]:
        other = a ^ (1 << width) - 1 if a >> (width - 1) else a
        places = [word.bit_length() - 1 for word in (a, other)]
        from_top = (0xFFFFFFFF if places[1] < 0 else width - 1 - places[1]) & 0xFFFFFFFF
        return width - a.bit_length(), places[0] & 0xFFFFFFFF, places[1] & 0xFFFFFFFF, from_top

    text = f"clz.b{width} d, a; bfind.u{width} e, a; bfind.s{width} f, a; bfind.shiftamt.s{width} g, a;"
    check(text, {"a": _word(width)}, dict.fromkeys("defg", "b32"), reference, data=[()])


def test_finding_the_nth_bit() -> None:
    """The loop is that of the PTX ISA, section 9.7.1.17."""

    def reference(mask: int, base: int, offset: int) -> int:
        position, count, step = base, abs(signed(offset, 32)) - 1, 1 if signed(offset, 32) > 0 else -1
        if offset == 0:
            return base if mask >> base & 1 else 0xFFFFFFFF
        while 0 <= position < 32:
            if mask >> position & 1:
                if count == 0:
                    return position
                count -= 1
            position += step
        return 0xFFFFFFFF

    rng = np.random.default_rng(8)
    offsets = rng.integers(-6, 7, THREADS).astype(np.int64).view(np.uint64) & np.uint64(0xFFFFFFFF)
    operands = {"a": _word(32), "b": ("b32", rng.integers(0, 32, THREADS)), "c": ("b32", offsets)}
    check("fns.b32 d, a, b, c;", operands, {"d": "b32"}, reference, data=[()])


def test_a_set_bit_below_a_base_that_no_word_has_is_found_at_once() -> None:
    """Of 2**32 - 1 places above the word none is looked at."""
    ones = np.full(THREADS, 0xFFFFFFFF)
    operands = {"a": _word(32), "b": ("b32", ones), "c": ("b32", ones)}
    assert execute("fns.b32 d, a, b, c;", operands, {"d": "b32"}).findings == ()


MODES = {
    "": None,
    ".f4e": ["3210", "4321", "5432", "6543"],
    ".b4e": ["5670", "6701", "7012", "0123"],
    ".rc8": ["0000", "1111", "2222", "3333"],
    ".ecl": ["3210", "3211", "3222", "3333"],
    ".ecr": ["0000", "1110", "2210", "3210"],
    ".rc16": ["1010", "3232", "1010", "3232"],
}
"""The table of the PTX ISA, section 9.7.9.7: bytes by selector, the most significant first."""


@pytest.mark.parametrize("mode", MODES)
def test_permuting_bytes(mode: str) -> None:
    table = MODES[mode]

    def reference(a: int, b: int, selector: int) -> int:
        octets = (b << 32 | a).to_bytes(8, "little")
        if table is not None:
            return _number_of([octets[int(place)] for place in reversed(table[selector & 3])])
        picked = []
        for shift in (0, 4, 8, 12):
            octet = octets[selector >> shift & 7]
            picked.append((0xFF if octet >> 7 else 0) if selector >> shift & 8 else octet)
        return _number_of(picked)

    operands = {"a": _word(32), "b": _word(32, "b"), "c": _word(32, "c")}
    check(
        f"prmt.b32{mode} d, a, b, c;",
        operands,
        {"d": "b32"},
        reference,
        data=[(), ("a", "b"), ("c",), ("a", "b", "c")],
    )


def _number_of(octets: list[int]) -> int:
    return int.from_bytes(bytes(octets), "little")


@pytest.mark.parametrize(
    "text",
    [
        "mov.b32 {h, g}, a; mov.b32 d, {g, h};",
        "prmt.b32 d, a, a, 0x1032;",
        "shl.b32 x, a, 8; shr.u32 y, a, 24; or.b32 d, x, y;",
        "and.b32 x, a, 0x0F0F0F0F; and.b32 y, a, 0xF0F0F0F0; lop3.b32 d, x, y, 0, 0xFC;",
        "shf.l.wrap.b32 d, a, a, 12;",
        "bfe.u32 x, a, 4, 8; bfi.b32 d, x, 0, 16, 8;",
        "brev.b32 d, a;",
    ],
)
def test_moving_bits_of_data_leaves_no_operation(text: str) -> None:
    declared = ".reg .b16 g, h; .reg .b32 x, y; "
    done = execute(declared + text, {"a": _word(32)}, {"d": "b32"}, ["a"])
    assert done.findings == ()
    assert done.operations <= {"concatenation", "input"}


@pytest.mark.parametrize("text", ["shf.l.clamp.b32 d, a, a, b;", "bfe.u32 d, a, b, 4;", "clz.b32 d, b;"])
def test_an_amount_that_depends_on_data_is_not_modelled(text: str) -> None:
    done = execute(text, {"a": _word(32), "b": _word(32, "b")}, {"d": "b32"}, ["b"])
    (finding,) = done.findings
    assert finding.kind == "unsupported"
    assert "data" in finding.message
    assert done.kernel.splitlines()[finding.line - 1].startswith(text.split(maxsplit=1)[0])
