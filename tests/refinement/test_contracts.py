"""Contracts: what is read, what is refused and how, and every example of the document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from contract_texts import contract_of
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.contract import parameter_reading, reading
from mmaproof.refinement.contract.contract import Accumulate
from mmaproof.refinement.contract.parameters import Access
from mmaproof.refinement.contract.reading import parse_contract, read_contract
from mmaproof.refinement.expected.contract_terms import covered, expected_terms
from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.formula.parser import WORDS
from mmaproof.refinement.machine.array_memory import inputs_of
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import FORMATS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
GEMM = EXAMPLES[0]


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_document_are_contracts(text: str) -> None:
    for instance in parse_contract(text).instances():
        for output in instance.outputs:
            if instance.contract.formulas:
                assert expected_terms(instance, output, TermStore()).shape == output.shape
                assert covered(instance, output).all()


def test_the_document_names_every_key_type_and_word() -> None:
    keys = {
        name
        for group in (
            *(reading.KERNEL, reading.LAUNCHES, reading.AGAINST),
            *(parameter_reading.SCALAR, parameter_reading.STRUCTURE, parameter_reading.ARRAY),
            *(parameter_reading.POINTER_KEYS, reading.ENSURES),
        )
        for name in group
    }
    words = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`([^`\n]+)`", DOCUMENT))))
    assert keys - words == set()
    assert set(WORDS) - words == set()
    assert set(FORMATS) - words - {"s16", "u16", "s32", "u32"} == set()


def test_a_contract_at_its_sizes() -> None:
    contract = parse_contract(GEMM)
    (instance,) = contract.instances()
    assert (contract.isa, contract.entry, contract.target) == ("ptx", "gemm", "sm_80")
    assert (contract.accumulate, contract.equality) == (Accumulate.UNSPECIFIED, Equality.VALUE)
    assert (instance.grid, instance.block, instance.dynamic_shared) == ((2, 2, 1), (128, 1, 1), None)
    assert [argument.name for argument in instance.arguments] == ["A", "B", "C", "n", "k"]
    a, c = instance.arrays["A"], instance.arrays["C"]
    assert (a.shape, a.strides, a.size, a.alignment, a.access) == ((64, 96), (96, 1), 12288, 256, Access.IN)
    assert instance.outputs == (c,)
    assert instance.scalars["k"].value == 96


def test_every_set_of_sizes_is_an_instance() -> None:
    text = GEMM.replace("[sizes]", "[[sizes]]").replace(
        "K = 96\n", 'K = 96\n[[sizes]]\nM = 1\nN = "M + 1"\nK = 3\n'
    )
    assert [(i.arrays["B"].shape, i.grid) for i in parse_contract(text).instances()] == [
        ((96, 64), (2, 2, 1)),
        ((3, 2), (1, 1, 1)),
    ]


@pytest.mark.parametrize(
    ("fmt", "size", "offsets"),
    [("s4", 3, [0, 4, 8, 12, 16]), ("b1", 1, [0, 1, 2, 3, 4]), ("e3m2", 5, [0, 8, 16, 24, 32]),
     ("f16", 10, [0, 16, 32, 48, 64])],
)  # fmt: skip
def test_small_elements_are_packed_low_bits_first(fmt: str, size: int, offsets: list[int]) -> None:
    array = next(contract_of("C[i] = 0", {"A": f"{fmt} 5", "C": "f32 1 out"}).instances()).arrays["A"]
    assert (array.size, array.bit_offsets.tolist()) == (size, offsets)


def test_strides_say_where_elements_are() -> None:
    arrays = {"A": "f16 2 3", "B": "f16 2 3", "D": "f16 2 3", "C": "f32 1 out"}
    extra = {"B": 'strides = "column-major"', "D": "strides = [1, 4]\nelement_bits = 32\nlow_bit = 8"}
    instance = next(contract_of("C[i] = 0", arrays, extra=extra).instances())
    assert instance.arrays["A"].places.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert instance.arrays["B"].places.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert instance.arrays["D"].bit_offsets.tolist() == [[8, 136, 264], [40, 168, 296]]
    assert instance.arrays["D"].size == 40


def test_scalars_are_encoded() -> None:
    scalars = {"a": "f16 -1.5", "b": "f32", "c": "s8 -3", "d": 'u64 "any"'}
    instance = next(contract_of("C[i] = 0", {"C": "f32 1 out"}, scalars=scalars).instances())
    assert [instance.scalars[name].value for name in "abcd"] == [0xBE00, None, 0xFD, None]
    assert instance.scalars["c"].integer == -3


def test_given_contents_fill_the_array() -> None:
    extra = {"E": "values = [[1, -2], [3]]"}
    contract = contract_of(
        "C[i] = A[(E[i] + 2) * 2]", {"A": "f16 20", "E": "s8 4", "C": "f16 4 out"}, extra=extra
    )
    instance = next(contract.instances())
    contents = instance.arrays["E"].contents
    assert contents is not None and contents.tolist() == [1, 0xFE, 3, 1]
    store = TermStore()
    terms = expected_terms(instance, instance.arrays["C"], store)
    assert store.arguments(terms)[:, 0].tolist() == [6, 0, 10, 6]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('isa = "ptx"', 'isa = "ptxx"', 2, "isa must be one of ptx, power, pto, not 'ptxx'"),
        ('isa = "ptx"\n', "", 1, "[kernel] has no isa"),
        ("[kernel]", "[kernle]", 1, "unknown key 'kernle'; did you mean kernel?"),
        ("block", "blocks", 8, "unknown key 'blocks' in [launch]; did you mean block?"),
        ("block = 128", "block = 1.5", 8, "block must be an integer or an expression such as"),
        ("block = 128", "block = [1, 2, 3, 4]", 8, "one to three extents"),
        ("block = 128", 'block = "Q"', 8, "block, column 1: unknown name Q; known: M, N, K"),
        ("block = 128", 'block = "M +"', 8, "block, column 4: expected an expression, not the end"),
        ("block = 128", 'block = "M // (N - 64)"', 8, "the divisor of // is 0"),
        ("M = 64", "M = [64, 32]", 11, "M is one number: write a table [[sizes]] for each set of sizes"),
        ("M = 64", "M = true", 11, "M must be an integer or an expression"),
        ("M = 64", "sum = 64", 11, "sum can't be the name of a size: it is a word of formulas"),
        ('name = "A"', 'name = "A b"', 16, "'A b' can't be the name of a parameter"),
        ('name = "B"', 'name = "A"', 21, "there are two parameters A"),
        ('name = "A"', 'name = "M"', 16, "M is a size too"),
        ('type = "f16"', 'type = "f17"', 17, "unknown format 'f17'"),
        ('shape = ["M", "K"]', 'shape = "M"', 18, "shape must be a list"),
        ('shape = ["M", "K"]', "shape = []", 18, "A has 0 axes"),
        ('"K"]\n', '"K"]\nstride = [1]\n', 19, "unknown key 'stride' in [[param]]; did you mean strides?"),
        ('"K"]\n', '"K"]\nstrides = [1]\n', 19, "A has 2 axes, but 1 strides"),
        ('"K"]\n', '"K"]\nalignment = 3\n', 19, "alignment must be a power of two, not 3"),
        ('"K"]\n', '"K"]\nvalues = [1, "x"]\n', 19, "values must be a list of numbers"),
        ('"K"]\n', '"K"]\nvalues = [0.1]\n', 19, "not exactly representable in f16"),
        ('access = "out"', 'access = "write"', 29, "one of in, out, inout, scratch, not 'write'"),
        ('access = "out"', "", 41, 'C is written: its access must be "out" or "inout", not "in"'),
        ('value = "K"', "", 36, "k needs a value"),
        ('value = "K"', 'valeu = "K"', 39, "unknown key 'valeu' in [[param]]; did you mean value?"),
        ('value = "K"', 'access = "in"', 39, "k has access, but no shape"),
        ("formula =", "formulas =", 42, "unknown key 'formulas' in [ensures]; did you mean formula?"),
        ("B[k, j])", "B[k, j]", 42, "formula, column 35: expected ')' or ',', not the end"),
        ("B[k, j])", "Q[k, j])", 42, "unknown name Q; known: A, B, C"),
        ("B[k, j])", "B[k])", 42, "B has 2 axes, not 1"),
        ("B[k, j])", "B[k, A[i, k]])", 42, "an index of B must be an integer, not a real number"),
        ("B[k, j])", "C[k, j])", 42, 'C has access "out"'),
        ("B[k, j])", "B[k, j]) + x", 42, "column 39: unknown name x"),
        ("B[k, j])", "B[k, j] % 2)", 42, "% takes integers, but this is a real number"),
        ("B[k, j])", "B[k, j] / a[i, k])", 42, "column 38: unknown name a"),
        ("sum(k, A", "sum(i, A", 42, "i is already in use here"),
        ("sum(k, A", "sum(k, r, A", 42, "no array is indexed by r itself"),
        ("C[i, j] =", "A[i, j] =", 42, "A is written"),
    ],
)  # fmt: skip
def test_errors_name_the_line_and_what_is_allowed(old: str, new: str, line: int, message: str) -> None:
    assert old in GEMM
    with pytest.raises(InputError) as caught:
        parse_contract(GEMM.replace(old, new, 1), "gemm.toml")
    assert message in str(caught.value)
    assert re.match(r"gemm\.toml:\d+: ", str(caught.value))
    assert abs(int(str(caught.value).split(":")[1]) - line) <= 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("M = 0", "shape, column 1: M is 0 at M = 0, N = 64, K = 96; allowed: 1 to"),
        ("M = 2000000000", "A has 192000000000 elements; at most 2147483647"),
    ],
)
def test_errors_at_particular_sizes(change: str, message: str) -> None:
    contract = parse_contract(GEMM.replace("M = 64", change), "gemm.toml")
    with pytest.raises(InputError, match=r"^gemm\.toml:") as caught:
        list(contract.instances())
    assert message in str(caught.value) or "(M + 31) // 32 is" in str(caught.value)


def test_elements_that_share_memory_are_refused() -> None:
    contract = contract_of("C[i] = 0", {"A": "f16 4 4", "C": "f32 1 out"}, extra={"A": "strides = [1, 2]"})
    with pytest.raises(InputError, match=r"elements of A share memory: shape \[4, 4\], strides \[1, 2\]"):
        list(contract.instances())


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("C[i] = 0.5 * A[i]", "C is s32, but this is a real number: write s32"),
        ("C[i] = C[i] + 1", r"C is written; its old value is old\(C\[\.\.\.\]\)"),
        ("D[i] = 1", "column 1: unknown name D; known: A, C"),
    ],
)
def test_outputs_are_described_soundly(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        contract_of(formula, {"A": "s8 4", "C": "s32 4 inout"})


def test_an_index_hides_a_parameter_that_passes_an_integer() -> None:
    arrays, scalars = {"A": "f16 2 3", "C": "f16 3 2 out"}, {"m": "s32 7", "k": "s32 9"}
    contract = contract_of("C[m, j] = A[j, m] + sum(k, A[0, k])", arrays, scalars=scalars)
    instance = next(contract.instances())
    assert covered(instance, instance.arrays["C"]).all()
    for data in ("f32", 's32 "any"'):
        with pytest.raises(InputError, match="m is a parameter that holds data, so it can't be an index"):
            contract_of("C[m, j] = A[j, m]", arrays, scalars={"m": data})
        with pytest.raises(InputError, match="k is already in use here"):
            contract_of("C[i, j] = sum(k, A[0, k])", arrays, scalars={"k": data})


def test_every_output_has_one_formula() -> None:
    arrays = {"C": "s32 4 out", "D": "s32 4 out"}
    with pytest.raises(InputError, match="D is an output, but has no formula"):
        contract_of("C[i] = 1", arrays)
    with pytest.raises(InputError, match="there are two formulas for C"):
        contract_of(["C[i] = 1", "C[i] = 2", "D[i] = 3"], arrays)


def test_sets_of_sizes_name_the_same_sizes() -> None:
    text = GEMM.replace("[sizes]", "[[sizes]]").replace("K = 96\n", "K = 96\n[[sizes]]\nM = 1\nN = 1\n")
    with pytest.raises(InputError, match=r"contract:14: every \[\[sizes\]\] names the same sizes"):
        parse_contract(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = [1", r"bad\.toml:1: column \d+|bad\.toml: is no TOML"),
        (b"\n\nx = = 1", r"bad\.toml:3: column 5"),
        (b"\xff", r"bad\.toml:1: not UTF-8: byte 0"),
        (b"", r"bad\.toml: \[kernel\] has no isa"),
        (b"kernel = 3", r"bad\.toml:1: kernel must be a table"),
        (b"x = " + b"[" * 5000, r"bad\.toml"),
        (b"x = " + b"9" * 5000, r"bad\.toml"),
    ],
)
def test_files_that_are_no_contracts(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_contract(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: can't be read: No such file"):
        read_contract(tmp_path / "none.toml")


values = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
        st.sampled_from(["M", "K", "any", "ptx", "row-major", "C[i, j] = A[i, j]"]),
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else "x" for c in value) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)


KEYS = [line.split(" = ")[0] for line in GEMM.splitlines() if " = " in line]


@given(st.integers(0, len(KEYS) - 1), values, st.sampled_from([None, *parameter_reading.ARRAY, *KEYS]))
@settings(max_examples=examples(300), deadline=None)
def test_any_value_of_any_key_is_read_or_refused(number: int, value: object, name: str | None) -> None:
    lines = GEMM.splitlines()
    place = [index for index, line in enumerate(lines) if " = " in line][number]
    lines[place] = f"{name or KEYS[number]} = {toml(value)}".encode("utf-8", "replace").decode()
    try:
        for instance in parse_contract("\n".join(lines)).instances():
            assert all(array.size > 0 or not array.access.is_written for array in instance.arrays.values())
    except InputError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=200) | st.integers(0, len(GEMM)).map(lambda end: GEMM[:end]))
@settings(max_examples=examples(200), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_contract(text)
    except InputError as error:
        assert str(error).startswith("contract")


def _limited(**keys: str) -> str:
    given = {"shape": "[2]", "more": "", "formula": "C[i] = A[i]"} | keys
    return (
        '[kernel]\nisa = "ptx"\n[[param]]\nname = "A"\ntype = "f32"\nshape = {shape}\n{more}\n'
        '[[param]]\nname = "C"\ntype = "f32"\nshape = [2]\naccess = "out"\n[ensures]\nformula = "{formula}"\n'
    ).format(**given)


NESTED = "".join(f"sum(k{n} < 1, " for n in range(33)) + "A[i]" + ")" * 33
CHAIN = "(((A[0]" + (" + A[0]" * 50 + ")") * 3


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shape": "[100000000]"}, "A has 100000000 elements; at most 67108864"),
        ({"shape": "[67108863]"}, "the arrays have 67108865 elements; at most 67108864"),
        ({"shape": "[99]", "more": "strides = [1000000000000]"}, "at most 17592186044416 bytes"),
        ({"shape": "[70000]", "more": "strides = [5000]"}, "A lies in 70000 pieces"),
        ({"formula": "C[i] = sum(k < 2000000000, A[i])"}, "sums have 4000000000 terms in all; at most"),
        ({"formula": "C[i] = sum(k < 20000, l < 20000, A[i])"}, "sums have 800000000 terms"),
        ({"formula": f"C[i] = {NESTED}"}, "31 indices in one expression; at most 30"),
        ({"formula": "C[i] = A[i] * 1e400"}, "1e400 is out of range"),
        ({"formula": "C[i] = A[i] / 1e-320"}, "the divisor of / is less than 2.2"),
        ({"formula": "C[i] = " + "max(A[0], " * 130 + "A[0]" + ")" * 130}, "nested too deeply"),
        ({"formula": f"C[i] = {CHAIN}"}, "nested more than 120 levels deep"),
        ({"formula": "C[i] = A[0] if i < 0"}, "it covers no element of C"),
    ],
)
def test_limits_are_told_before_anything_is_built(keys: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        (instance,) = parse_contract(_limited(**keys)).instances()
        inputs_of(TermStore(), instance)
        expected_terms(instance, instance.arrays["C"], TermStore())
    assert message in str(error.value)


def test_sums_beside_each_other_share_their_axes() -> None:
    formula = "C[i] = " + " + ".join(f"sum(k{n} < {n + 2}, A[0])" for n in range(40))
    (instance,) = parse_contract(_limited(formula=formula)).instances()
    assert len(expected_terms(instance, instance.arrays["C"], TermStore())) == 2
