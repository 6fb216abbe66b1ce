"""Integer arithmetic against Python's integers, on numbers and on data."""

from __future__ import annotations

import pytest
from ptx_instructions import THREADS, check, execute, signed, words

TYPES = [f"{sort}{width}" for width in (16, 32, 64) for sort in "us"]
CARRIED = ["u32", "s32", "u64", "s64"]


def _read(word: int, name: str) -> int:
    width = int(name[1:])
    return signed(word, width) if name[0] == "s" else word


def _clamped(value: int, width: int = 32) -> int:
    return max(-(1 << width - 1), min(value, (1 << width - 1) - 1)) & (1 << width) - 1


def _divided(a: int, b: int) -> tuple[int, int]:
    """Divide towards zero."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


TWO_OPERANDS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("opcode", TWO_OPERANDS)
def test_operations_of_two_integers(opcode: str, name: str) -> None:
    width = int(name[1:])
    check(
        f"{opcode}.{name} d, a, b;",
        {"a": (f"b{width}", words(width, 1)), "b": (f"b{width}", words(width, 2))},
        {"d": f"b{width}"},
        lambda a, b: TWO_OPERANDS[opcode](_read(a, name), _read(b, name)) & (1 << width) - 1,
        data=[(), ("a",), ("a", "b")],
    )


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("opcode", ["mul.hi", "mad.hi", "mad.lo", "sad"])
def test_products_and_what_is_added_to_them(opcode: str, name: str) -> None:
    width = int(name[1:])
    operands = {each: (f"b{width}", words(width, ord(each))) for each in "abc"}
    if opcode == "mul.hi":
        del operands["c"]

    def reference(a: int, b: int, c: int = 0) -> int:
        x, y = _read(a, name), _read(b, name)
        found = {"mad.lo": x * y, "sad": abs(x - y)}.get(opcode, x * y >> width)
        return (found + c) & (1 << width) - 1

    text = f"{opcode}.{name} d, {', '.join(operands)};"
    upper_of_128 = width == 64 and opcode.endswith("hi")
    check(text, operands, {"d": f"b{width}"}, reference, data=[()] if upper_of_128 else None)


@pytest.mark.parametrize("name", ["u16", "s16", "u32", "s32"])
def test_wide_products_keep_every_bit(name: str) -> None:
    width = int(name[1:])
    operands = {"a": (f"b{width}", words(width, 1)), "b": (f"b{width}", words(width, 2))}
    wide = {"c": (f"b{2 * width}", words(2 * width, 3))}
    ones = (1 << 2 * width) - 1
    product = lambda a, b: _read(a, name) * _read(b, name) & ones  # noqa: E731
    check(f"mul.wide.{name} d, a, b;", operands, {"d": f"b{2 * width}"}, product)
    text = f"mad.wide.{name} d, a, b, c;"
    check(text, operands | wide, {"d": f"b{2 * width}"}, lambda a, b, c: product(a, b) + c & ones)


@pytest.mark.parametrize("name", ["u32", "s32"])
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_products_of_24_bits(part: str, name: str) -> None:
    def reference(a: int, b: int, c: int) -> int:
        cut = [signed(each & 0xFFFFFF, 24) if name[0] == "s" else each & 0xFFFFFF for each in (a, b)]
        return (cut[0] * cut[1] >> (16 if part == "hi" else 0)) + c & 0xFFFFFFFF

    operands = {each: ("b32", words(32, ord(each))) for each in "abc"}
    check(f"mad24.{part}.{name} d, a, b, c;", operands, {"d": "b32"}, reference)
    del operands["c"]
    check(f"mul24.{part}.{name} d, a, b;", operands, {"d": "b32"}, lambda a, b: reference(a, b, 0))


def test_saturating_sums_are_clamped() -> None:
    operands = {each: ("b32", words(32, ord(each))) for each in "abc"}
    pair = {each: operands[each] for each in "ab"}
    check("add.sat.s32 d, a, b;", pair, {"d": "b32"}, lambda a, b: _clamped(signed(a, 32) + signed(b, 32)))
    check("sub.sat.s32 d, a, b;", pair, {"d": "b32"}, lambda a, b: _clamped(signed(a, 32) - signed(b, 32)))
    check(
        "mad.hi.sat.s32 d, a, b, c;",
        operands,
        {"d": "b32"},
        lambda a, b, c: _clamped((signed(a, 32) * signed(b, 32) >> 32) + signed(c, 32)),
    )


@pytest.mark.parametrize("name", TYPES)
def test_quotients_and_remainders_go_towards_zero(name: str) -> None:
    width = int(name[1:])
    operands = {"a": (f"b{width}", words(width, 1)), "b": (f"b{width}", words(width, 2) | 1)}

    def reference(a: int, b: int) -> tuple[int, int]:
        quotient, remainder = _divided(_read(a, name), _read(b, name))
        return quotient & (1 << width) - 1, remainder & (1 << width) - 1

    text = f"div.{name} d, a, b; rem.{name} e, a, b;"
    check(text, operands, {"d": f"b{width}", "e": f"b{width}"}, reference, data=[()])


@pytest.mark.parametrize("divisor", [2, 16, 1 << 31])
def test_dividing_unsigned_data_by_a_power_of_two_leaves_no_operation(divisor: int) -> None:
    text = f"div.u32 d, a, {divisor}; rem.u32 e, a, {divisor};"
    operands = {"a": ("b32", words(32, 1))}
    check(text, operands, {"d": "b32", "e": "b32"}, lambda a: divmod(a, divisor))
    assert execute(text, operands, {"d": "b32", "e": "b32"}, ["a"]).operations == {"concatenation"}


def test_a_quotient_by_zero_is_undefined() -> None:
    operands = {"a": ("b32", words(32, 1)), "b": ("b32", [index % 2 for index in range(THREADS)])}
    done = execute("div.u32 d, a, b;", operands, {"d": "b32"})
    assert done.operations == {"undefined"}
    assert (done.results["d"][1::2] == words(32, 1)[1::2]).all()


@pytest.mark.parametrize("name", ["s16", "s32", "s64"])
def test_signs(name: str) -> None:
    width = int(name[1:])
    check(
        f"neg.{name} d, a; abs.{name} e, a;",
        {"a": (f"b{width}", words(width, 1))},
        {"d": f"b{width}", "e": f"b{width}"},
        lambda a: (-a & (1 << width) - 1, abs(signed(a, width)) & (1 << width) - 1),
    )


@pytest.mark.parametrize(
    "mnemonic", ["add.u16x2", "min.u16x2", "max.s16x2", "max.relu.s16x2", "min.relu.s16x2"]
)
def test_pairs_of_halfwords(mnemonic: str) -> None:
    opcode, *relu, name = mnemonic.split(".")

    def half(a: int, b: int) -> int:
        found = TWO_OPERANDS[opcode](_read(a, name[:3]), _read(b, name[:3]))
        return (max(found, 0) if relu else found) & 0xFFFF

    def reference(a: int, b: int) -> int:
        return half(a & 0xFFFF, b & 0xFFFF) | half(a >> 16, b >> 16) << 16

    check(
        f"{mnemonic} d, a, b;",
        {each: ("b32", words(32, ord(each))) for each in "ab"},
        {"d": "b32"},
        reference,
    )


def test_rectified_extremum() -> None:
    operands = {each: ("b32", words(32, ord(each))) for each in "ab"}
    check(
        "min.relu.s32 d, a, b;",
        operands,
        {"d": "b32"},
        lambda a, b: max(0, min(signed(a, 32), signed(b, 32))),
    )


@pytest.mark.parametrize("left", ["u32", "s32"])
@pytest.mark.parametrize("right", ["u32", "s32"])
@pytest.mark.parametrize("opcode", ["dp4a", "dp2a.lo", "dp2a.hi"])
def test_dot_products_of_bytes(opcode: str, left: str, right: str) -> None:
    width, first = (8, 0) if opcode == "dp4a" else (16, 2 * (opcode == "dp2a.hi"))

    def reference(a: int, b: int, c: int) -> int:
        total = c
        for index in range(32 // width):
            x = a >> width * index & (1 << width) - 1
            y = b >> 8 * (first + index) & 0xFF
            total += (signed(x, width) if left == "s32" else x) * (signed(y, 8) if right == "s32" else y)
        return total & 0xFFFFFFFF

    operands = {each: ("b32", words(32, ord(each))) for each in "abc"}
    check(f"{opcode}.{left}.{right} d, a, b, c;", operands, {"d": "b32"}, reference)


@pytest.mark.parametrize("name", CARRIED)
def test_carries_make_longer_sums_and_differences(name: str) -> None:
    width = int(name[1:])
    operands = {each: (f"b{width}", words(width, ord(each))) for each in "abcd"}
    results = dict.fromkeys("efg", f"b{width}")
    ones = (1 << width) - 1

    def split(total: int) -> tuple[int, int, int]:
        return total & ones, total >> width & ones, total >> 2 * width & ones

    def sums(a: int, b: int, c: int, d: int) -> tuple[int, int, int]:
        return split((a | b << width) + (c | d << width))

    def differences(a: int, b: int, c: int, d: int) -> tuple[int, int, int]:
        return split((a | b << width) - (c | d << width))

    check(f"add.cc.{name} e, a, c; addc.cc.{name} f, b, d; addc.{name} g, 0, 0;", operands, results, sums)
    check(
        f"sub.cc.{name} e, a, c; subc.cc.{name} f, b, d; subc.{name} g, 0, 0;", operands, results, differences
    )


@pytest.mark.parametrize("name", ["u32", "u64"])
def test_carries_make_longer_products(name: str) -> None:
    width = int(name[1:])
    operands = {each: (f"b{width}", words(width, ord(each))) for each in "abcd"}
    text = f"mad.lo.cc.{name} e, a, b, c; madc.hi.{name} f, a, b, d;"
    ones = (1 << width) - 1

    def reference(a: int, b: int, c: int, d: int) -> tuple[int, int]:
        total = a * b + (c | d << width)
        return total & ones, total >> width & ones

    check(text, operands, {"e": f"b{width}", "f": f"b{width}"}, reference, data=[()] if width == 64 else None)
