"""What follows a product in kernels of Power: choices by masks, and integers clamped as they are packed."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import compiled, messages, verified

TYPES = "#include <altivec.h>\ntypedef __vector unsigned char bytes;\ntypedef __vector float floats;\n"

ACTIVATION = """
void f(float *C, const float *A, const float *B, const float *bias, long k)
{
  __vector_quad acc;
  floats row[4], zero = vec_splats(0.0f), six = vec_splats(6.0f);
  __builtin_mma_xxsetaccz(&acc);
  for (long i = 0; i < k; i++)
    __builtin_mma_xvf32gerpp(&acc, (bytes)vec_xl(0, A + 4 * i), (bytes)vec_xl(0, B + 4 * i));
  __builtin_mma_disassemble_acc(row, &acc);
  for (int i = 0; i < 4; i++) {
    floats x = row[i] + vec_xl(0, bias);
    x = vec_and(x, (floats)vec_cmpgt(x, zero));
    x = vec_sel(x, six, (__vector unsigned int)vec_cmpgt(x, six));
    vec_xst(x, 0, C + 4 * i);
  }
}
"""

TWO_MASKS = ACTIVATION.replace("vec_and(x, (floats)vec_cmpgt(x, zero))", "x").replace(
    "(__vector unsigned int)vec_cmpgt(x, six)",
    "vec_and((__vector unsigned int)vec_cmpgt(x, zero), "
    "(__vector unsigned int)vec_cmpgt(x, vec_xl(0, bias)))",
)

PACKED = """
void f(signed char *C, const signed char *A, const unsigned char *B, long k)
{
  __vector_quad acc;
  __vector signed int row[4];
  __builtin_mma_xxsetaccz(&acc);
  for (long i = 0; i < k; i++)
    __builtin_mma_xvi8ger4pp(&acc, (bytes)vec_xl(0, A + 16 * i), vec_xl(0, B + 16 * i));
  __builtin_mma_disassemble_acc(row, &acc);
  vec_xst(vec_packs(vec_packs(row[0], row[1]), vec_packs(row[2], row[3])), 0, C);
}
"""


SCALARS = """
void f(signed char *C, const int *A, long k)
{
  for (int i = 0; i < 4; i++) {
    int v = A[i];
    v = v > 127 ? 127 : v;
    C[i] = v < -128 ? -128 : v;
  }
}
"""


def contract(formula: str, *arrays: tuple[str, str, str]) -> str:
    text = '[kernel]\nisa = "power"\nentry = "f"\n'
    for name, kind, shape in arrays:
        access = 'access = "out"\n' if name == "C" else ""
        text += f'\n[[param]]\nname = "{name}"\ntype = "{kind}"\nshape = {shape}\n{access}'
    return f'{text}\n[[param]]\nname = "k"\ntype = "s64"\nvalue = 3\n\n[ensures]\nformula = "{formula}"\n'


FLOATS = contract(
    "C[i, j] = min(max(sum(t, A[t, i] * B[t, j]) + bias[j], 0), 6)",
    ("C", "f32", "[4, 4]"),
    ("A", "f32", "[3, 4]"),
    ("B", "f32", "[3, 4]"),
    ("bias", "f32", "[4]"),
)
MASKED = contract(
    "C[i, j] = where(sum(t, A[t, i] * B[t, j]) + bias[j] > 0, "
    "where(sum(t, A[t, i] * B[t, j]) + bias[j] > bias[j], 6, sum(t, A[t, i] * B[t, j]) + bias[j]), "
    "sum(t, A[t, i] * B[t, j]) + bias[j])",
    ("C", "f32", "[4, 4]"),
    ("A", "f32", "[3, 4]"),
    ("B", "f32", "[3, 4]"),
    ("bias", "f32", "[4]"),
)
INTEGERS = contract(
    "C[i, j] = min(max(sum(t, sum(u, A[t, i, u] * B[t, j, u])), -128), 127)",
    ("C", "s8", "[4, 4]"),
    ("A", "s8", "[3, 4, 4]"),
    ("B", "u8", "[3, 4, 4]"),
)
SCALAR = contract("C[i] = min(max(A[i], -128), 127)", ("C", "s8", "[4]"), ("A", "s32", "[4]"))


@pytest.mark.parametrize(
    ("text", "of"), [(ACTIVATION, FLOATS), (TWO_MASKS, MASKED), (PACKED, INTEGERS), (SCALARS, SCALAR)]
)
def test_choices_and_clamps_are_verified(text: str, of: str, tmp_path: Path) -> None:
    found = verified(compiled(TYPES + text, tmp_path, "-O2"), of)
    assert found.result.verdict == "verified", messages(found)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "of", "old", "new"),
    [
        (ACTIVATION, FLOATS, "vec_sel(x, six,", "vec_sel(six, x,"),
        (ACTIVATION, FLOATS, "vec_cmpgt(x, zero)", "vec_cmpgt(zero, x)"),
        (ACTIVATION, FLOATS, "vec_and(", "vec_andc("),
        (ACTIVATION, FLOATS, "six = vec_splats(6.0f)", "six = vec_splats(7.0f)"),
        (TWO_MASKS, MASKED, "vec_and((", "vec_or(("),
        (PACKED, INTEGERS, "row[0], row[1]", "row[1], row[0]"),
        (PACKED, INTEGERS, "vec_packs(vec_packs(", "(__vector signed char)vec_packsu(vec_packs("),
        (PACKED, INTEGERS, "vec_packs(row[2], row[3])", "vec_pack(row[2], row[3])"),
        (SCALARS, SCALAR, "127 :", "126 :"),
        (SCALARS, SCALAR, "v > 127", "v < 127"),
        (SCALARS, SCALAR, "v > 127", "(unsigned)v > 127"),
    ],
)
def test_faults_in_them_are_refuted(text: str, of: str, old: str, new: str, tmp_path: Path) -> None:
    assert old in text
    found = verified(compiled(TYPES + text.replace(old, new), tmp_path, "-O2"), of)
    assert found.result.verdict == "refuted", messages(found)


FAR_AND_BACK = """
void f(float *C, const float *A, long k)
{
  floats great = vec_splats(0x1p100f), tiny = vec_splats(0x1p-100f);
  for (int i = 0; i < 4; i++)
    vec_xst(vec_mul(vec_mul(vec_xl(0, A + 4 * i), great), tiny), 0, C + 4 * i);
}
"""


def test_what_is_scaled_far_and_back_may_overflow(tmp_path: Path) -> None:
    of = contract("C[i, j] = A[i, j]", ("C", "f32", "[4, 4]"), ("A", "f32", "[4, 4]"))
    kernel = compiled(TYPES + FAR_AND_BACK, tmp_path, "-O2")
    found = verified(kernel, of)
    assert found.result.verdict == "undecided", messages(found)
    assert "no rounding to f32 overflows" in messages(found)
    found = verified(kernel, of + '[requires]\nconditions = "abs(A[i, j]) <= 1000"\n')
    assert found.result.verdict == "verified", messages(found)


FIXED_POINT = """
void f(float *C, const int *A, long k)
{
  __vector signed int x = vec_xl(0, A);
  vec_xst(vec_ctf(x, 0), 0, C);
  vec_xst(vec_ctf((__vector unsigned int)x, 3), 0, C + 4);
}
"""
CLAMPED = """
void f(int *C, const float *A, long k)
{
  floats x = vec_xl(0, A);
  vec_xst(vec_cts(x, 2), 0, C);
  vec_xst((__vector signed int)vec_ctu(x, 0), 0, C + 4);
}
"""


@pytest.mark.parametrize(
    ("text", "formula", "arrays", "verdict"),
    [
        (
            FIXED_POINT,
            "C[i, j] = where(i == 0, A[j], (A[j] & 0x7fffffff) * 0.125)",
            ("f32", "s32"),
            "refuted",
        ),
        (FIXED_POINT, "C[i, j] = where(i == 0, A[j], u32(A[j]) * 0.125)", ("f32", "s32"), "verified"),
        (CLAMPED, "C[i, j] = where(i == 0, s32(A[j] * 4), s32(u32(A[j])))", ("s32", "f32"), "verified"),
        (CLAMPED, "C[i, j] = where(i == 0, s32(A[j] * 2), s32(u32(A[j])))", ("s32", "f32"), "refuted"),
    ],
)
def test_fixed_point_numbers_are_converted(
    text: str, formula: str, arrays: tuple[str, str], verdict: str, tmp_path: Path
) -> None:
    of = contract(formula, ("C", arrays[0], "[2, 4]"), ("A", arrays[1], "[4]"))
    found = verified(compiled(TYPES + text, tmp_path, "-O2"), of)
    assert found.result.verdict == verdict, messages(found)
