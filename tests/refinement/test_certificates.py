"""Certificates: random terms that rules make equal recheck; whatever is changed in one is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checker_terms import WRONG
from checker_terms import Terms as CheckedTerms
from hypothesis import given
from hypothesis import strategies as st
from row_contracts import contract as row_contract

from mmaproof.api import kernels
from mmaproof.refinement.certificate.sections import ShownOutput, TermRows, section_of
from mmaproof.refinement.recheck import rechecking
from mmaproof.refinement.recheck.document import RefusedError, section
from mmaproof.refinement.recheck.rechecking import NOT_OF_REALS, recheck
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.spec.formats import F32, S8

REPOSITORY = Path(__file__).parents[2]
ROWS = REPOSITORY / "tests" / "kernels" / "triton_rows"


def document(*sections: dict[str, Any], equality: str = "value") -> dict[str, Any]:
    """Return a certificate as it is read from a file."""
    whole = {"certificate": 1, "equality": equality, "hypotheses": [], "sections": sections, "open": []}
    return json.loads(json.dumps(whole))


class Terms:
    """Real terms of f32, and integer terms of 32 bits."""

    def __init__(self) -> None:
        self.store = TermStore()

    def input(self, index: int) -> int:
        return int(self.store.inputs("X", F32, index))

    def constant(self, value: float) -> int:
        return int(self.store.constants(np.float32(value).view(np.uint32), 32))

    def sum(self, *terms: int) -> int:
        return int(self.store.apply(operations.fused(F32, (), (F32,) * len(terms)), *terms))

    def product(self, left: int, right: int) -> int:
        return int(self.store.apply(operations.fused(F32, ((F32, F32),)), left, right))

    def negated(self, term: int) -> int:
        return int(self.store.apply(operations.negate(F32), term))

    def function(self, name: str, *terms: int) -> int:
        return int(self.store.apply(operations.function(name, F32, *(F32,) * len(terms)), *terms))

    def extremum(self, which: str, left: int, right: int) -> int:
        return int(self.store.apply(operations.extremum(F32, which), left, right))

    def chosen(self, relation: str, left: int, right: int, then: int, otherwise: int) -> int:
        condition = self.store.apply(operations.compare(F32, relation), left, right)
        return int(self.store.apply(operations.select(32), condition, then, otherwise))

    def section(self, left: int, right: int, relation: str = "reals", fmt: Any = F32) -> dict[str, Any]:
        sides = np.array([left], np.int32), np.array([right], np.int32)
        output = ShownOutput("Y", fmt, relation, np.array([0]), *sides, reordered=False)
        return section_of(self.store, "", [output], [])


def softmax(terms: Terms, count: int) -> tuple[int, int]:
    """Return the first of so many shares, with the greatest exponent subtracted and without."""
    given = [terms.input(index) for index in range(count)]
    greatest = given[0]
    for each in given[1:]:
        greatest = terms.extremum("max", greatest, each)
    shifted = [terms.function("ex2", terms.sum(each, terms.negated(greatest))) for each in given]
    plain = [terms.function("ex2", each) for each in reversed(given)]
    return (
        terms.function("div", shifted[0], terms.sum(*shifted)),
        terms.function("div", plain[-1], terms.sum(*plain)),
    )


def equal_sides(terms: Terms, name: str) -> tuple[int, int]:
    """Return terms that are equal by rows."""
    x, y, z = (terms.input(index) for index in range(3))
    match name:
        case "softmax":
            return softmax(terms, 3)
        case "root":
            divided = terms.function("div", x, terms.function("sqrt", y))
            return terms.product(x, terms.function("rsqrt", y)), divided
        case "tanh":
            exponent = terms.product(x, terms.constant(np.log2(np.e) * 2))
            power = terms.function("ex2", exponent)
            quotient = terms.function("div", terms.constant(2), terms.sum(power, terms.constant(1)))
            return terms.function("tanh", x), terms.sum(terms.constant(1), terms.negated(quotient))
        case "odd":
            return terms.negated(terms.function("erf", x)), terms.function("erf", terms.negated(x))
        case "chosen":
            return terms.chosen("ge", x, y, y, x), terms.extremum("min", y, x)
        case "number":
            return terms.chosen("num", x, x, x, y), x
        case "powers":
            split = terms.product(terms.function("ex2", x), terms.function("ex2", terms.sum(y, z)))
            return terms.function("ex2", terms.sum(x, y, z)), split
    raise AssertionError(name)


NAMES = ("softmax", "root", "tanh", "odd", "chosen", "number", "powers")
EACH = pytest.mark.parametrize("name", NAMES)


@cache
def _written(name: str) -> str:
    terms = Terms()
    return json.dumps(document(terms.section(*equal_sides(terms, name))))


def certificate(name: str) -> dict[str, Any]:
    """Return the certificate of sides that are equal by rows, the same at each call."""
    found: dict[str, Any] = json.loads(_written(name))
    return found


def passes(whole: dict[str, Any]) -> bool:
    """Tell whether a certificate is not refused, whatever it says that it supposes."""
    (part,) = whole["sections"]
    part["supposed"] = rechecking.supposed_by(section(part))
    try:
        recheck(whole)
    except RefusedError:
        return False
    return True


@EACH
def test_sides_that_rows_make_equal_recheck(name: str) -> None:
    found = recheck(certificate(name))
    assert found.elements == {"reals": 1}
    assert found.rows and found.supposed is not None
    assert found.probability < 2**-64
    assert [each for each in found.open if NOT_OF_REALS not in each] == []


@EACH
def test_no_step_may_be_left_out(name: str) -> None:
    """Each is needed, but for those of the same value; without all, the sides differ."""
    whole = certificate(name)
    whole["sections"][0] |= {"steps": [], "supposed": []}
    with pytest.raises(RefusedError):
        recheck(whole)


@EACH
def test_variables_exchanged_with_a_term_are_refused(name: str) -> None:
    """Of each step that is needed, and each variable: put something in its place that nothing else is."""
    changed = 0
    for place, step in enumerate(certificate(name)["sections"][0]["steps"]):
        whole = certificate(name)
        del whole["sections"][0]["steps"][place]
        if passes(whole):
            continue
        for variable in step["variables"]:
            whole = certificate(name)
            at = whole["sections"][0]["steps"][place]
            at["variables"][variable] = f"({at['variables'][variable]}) * 3 + t0"
            with pytest.raises(RefusedError):
                recheck(whole)
            changed += 1
    assert changed


@EACH
def test_sides_exchanged_with_other_terms_are_refused(name: str) -> None:
    whole = certificate(name)
    (equation,) = whole["sections"][0]["equations"]
    count = len(whole["sections"][0]["terms"])
    refused = 0
    for other in range(count):
        whole = certificate(name)
        whole["sections"][0]["equations"][0]["elements"][0][2] = other
        if other in equation["elements"][0]:
            continue
        with pytest.raises(RefusedError):
            recheck(whole)
        refused += 1
    assert refused


def _changed(change: Callable[[dict[str, Any]], None], name: str = "softmax") -> dict[str, Any]:
    whole = certificate(name)
    change(whole["sections"][0])
    return whole


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part["supposed"].append("nothing"),
        lambda part: part["steps"].append({"before": 0, "rows": ["elementary/finite-mask"], "variables": {}}),
        lambda part: part["steps"].reverse(),
        lambda part: part["terms"].reverse(),
        lambda part: part["terms"][-1].append(len(part["terms"])),
        lambda part: part.pop("steps"),
        lambda part: part["steps"][0].update(rows=["no/such-row"]),
        lambda part: part["steps"][0].update(rows=[]),
        lambda part: part["steps"][0].update(rows=[*part["steps"][0]["rows"]] * 2),
        lambda part: part["steps"][0].update(before=10**6),
        lambda part: part["steps"][0]["variables"].update(unused="t0"),
        lambda part: part["steps"][0]["variables"].clear(),
        lambda part: part["steps"][0]["variables"].update(x="t999999"),
        lambda part: part["steps"][0]["variables"].update(x="__import__('os')"),
        lambda part: part["equations"][0].update(relation="identical"),
        lambda part: part["equations"][0].update(relation="ring"),
        lambda part: part["equations"][0].update(relation="believed"),
        lambda part: part["equations"][0].update(format="f31"),
        lambda part: part["operations"][0].__setitem__(1, "s32"),
    ],
)
def test_a_changed_part_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    with pytest.raises((RefusedError, ValueError)):
        recheck(_changed(change))


def test_a_verdict_of_bits_is_not_one_over_the_reals() -> None:
    whole = certificate("root") | {"equality": "bits"}
    with pytest.raises(RefusedError, match="equal as"):
        recheck(whole)


@pytest.mark.parametrize("times", [[1, 2], [-1, 1], [1441, 1000], [1, 0]])
def test_a_literal_stands_for_nothing_but_what_it_is_next_to(times: list[int]) -> None:
    whole = certificate("tanh")
    stands = whole["sections"][0]["literals"]
    assert stands and recheck(whole).supposed
    for stand in stands:
        stand[3:] = times
    with pytest.raises((RefusedError, ZeroDivisionError)):
        recheck(whole)


def test_a_certificate_of_nothing_is_refused() -> None:
    with pytest.raises(RefusedError, match="no elements"):
        recheck(document(equality="bits"))
    whole = certificate("root")
    whole["sections"][0] |= {"equations": [], "steps": [], "supposed": []}
    with pytest.raises(RefusedError, match="no elements"):
        recheck(whole)


def test_what_is_supposed_may_not_be_hidden() -> None:
    whole = certificate("root")
    whole["sections"][0]["supposed"].pop()
    with pytest.raises(RefusedError, match="suppose"):
        recheck(whole)


# -- guards
FACTORS: dict[str, Callable[[Terms], int]] = {
    "power": lambda terms: terms.function("ex2", terms.input(2)),
    "positive": lambda terms: terms.constant(2),
    "input": lambda terms: terms.input(2),
    "negative": lambda terms: terms.constant(-2),
}


@pytest.mark.parametrize("factor", FACTORS)
def test_a_guard_is_shown_or_the_step_refused(factor: str) -> None:
    terms = Terms()
    x, y, z = terms.input(0), terms.input(1), FACTORS[factor](terms)
    left = terms.extremum("max", terms.product(x, z), terms.product(y, z))
    right = terms.product(terms.extremum("max", x, y), z)
    rows = TermRows(terms.store, [left, right])
    variables = {name: f"t{rows.place(term)}" for name, term in (("x", x), ("y", y), ("z", z))}
    variables["z"] = {"positive": "2", "negative": "-2"}.get(factor, variables["z"])
    sides = [0, rows.place(left), rows.place(right)]
    equation = {"output": "Y", "format": "f32", "relation": "reals", "elements": [sides]}
    part = {
        "title": "", "operations": rows.operations, "terms": rows.rows, "literals": [], "supposed": [],
        "steps": [{"before": sides[1], "rows": ["extrema/common-factor"], "variables": variables}],
        "equations": [equation], "open": [],
    }  # fmt: skip
    if factor in ("power", "positive"):
        assert recheck(document(part)).elements == {"reals": 1}
    else:
        with pytest.raises(RefusedError, match="guard"):
            recheck(document(part))


# -- rows that are no theorems
@pytest.mark.parametrize(
    ("name", "row", "right"),
    [
        ("softmax", "elementary/power-of-sum", "ex2(x) + ex2(y)"),
        ("powers", "elementary/power-of-sum", "ex2(x) * ex2(x)"),
        ("root", "elementary/reciprocal-root", "sqrt(x)"),
        ("tanh", "elementary/hyperbolic-tangent", "1 - rcp(ex2(2 * x * log2_of_e) + 1)"),
        ("odd", "elementary/erf-is-odd", "erf(x)"),
        ("chosen", "extrema/chosen-less", "max(x, y)"),
        ("number", "choices/number", "y"),
    ],
)
def test_rows_that_are_changed_refuse_what_they_made_equal(
    name: str, row: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, known = certificate(name), rechecking.BY_NAME
    assert recheck(whole).rows[row]
    monkeypatch.setattr(rechecking, "BY_NAME", {**known, row: replace(known[row], right=right)})
    with pytest.raises(RefusedError):
        recheck(whole)


# -- integers
def integers(relation: str, *, wrap: bool) -> dict[str, Any]:
    terms = Terms()
    x, y = (terms.store.inputs("A", S8, index) for index in (0, 1))
    wide = [int(terms.store.apply(operations.extend(32, 8), each)) for each in (x, y)]
    left = int(terms.store.apply(operations.ring(32, 1, 1), *wide, wide[0]))
    one = terms.store.constants(np.array(1 << 32 if wrap else 1, np.uint64) % (1 << 32), 32)
    grown = int(terms.store.apply(operations.ring(32, 0, 2), wide[1], one))
    right = int(terms.store.apply(operations.ring(32, 1, 0), grown, wide[0]))
    return document(terms.section(left, right, relation, bits(32)), equality="bits")


def test_sums_and_products_of_integers_are_rechecked_in_full() -> None:
    found = recheck(integers("ring", wrap=False))
    assert str(found) == "rechecked" and found.elements == {"ring": 1}


def test_integers_that_are_not_equal_are_not_stated() -> None:
    found = recheck(integers("ring", wrap=True))
    assert not found.elements and len(found.open) == 1


def test_rounded_numbers_are_never_equal_words() -> None:
    terms = Terms()
    x, y = terms.input(0), terms.input(1)
    convert = operations.convert(operations.signed(32), F32, None)
    sides = [int(terms.store.apply(convert, terms.sum(*pair))) for pair in ((x, y), (y, x))]
    assert recheck(document(terms.section(*sides, "reals", bits(32)))).elements == {"reals": 1}
    assert not recheck(document(terms.section(*sides, "ring", bits(32)))).elements


def test_a_great_constant_rounds() -> None:
    """``(x + 12582912) - 12582912`` is x rounded to a whole number, not x."""
    terms = Terms()
    great = terms.constant(1.5 * 2**23)
    rounded = terms.sum(terms.sum(terms.input(0), great), terms.negated(great))
    assert not recheck(document(terms.section(rounded, terms.input(0)))).elements


# -- random terms
LEAVES = st.integers(0, 2)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Any:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(LEAVES)
    name = draw(st.sampled_from(["sum", "product", "negated", "ex2", "rsqrt", "max", "erf"]))
    count = 2 if name in ("sum", "product", "max") else 1
    return (name, *(draw(expressions(depth - 1)) for _ in range(count)))


def built(terms: Terms, tree: Any, *, turned: bool) -> int:
    """Return a term; if `turned`, one that is equal by rows and laws of the field."""
    if isinstance(tree, int):
        return terms.input(tree)
    name, *inner = tree
    sides = [built(terms, each, turned=turned) for each in inner]
    match name:
        case "sum":
            return terms.sum(*(sides[::-1] if turned else sides))
        case "product":
            return terms.product(*(sides[::-1] if turned else sides))
        case "negated":
            return terms.product(terms.constant(-1), sides[0]) if turned else terms.negated(sides[0])
        case "max":
            if turned:
                return terms.chosen("lt", *sides, *sides[::-1])
            return terms.extremum("max", *sides)
        case "rsqrt" if turned:
            return terms.function("rcp", terms.function("sqrt", sides[0]))
        case "ex2" if turned and isinstance(inner[0], tuple) and inner[0][0] == "sum":
            parts = [built(terms, each, turned=True) for each in inner[0][1:]]
            return terms.product(*(terms.function("ex2", part) for part in parts))
        case "erf" if turned:
            return terms.negated(terms.function("erf", terms.negated(sides[0])))
    return terms.function(name, sides[0])


@given(expressions())
def test_random_terms_that_rows_make_equal_recheck(tree: Any) -> None:
    terms = Terms()
    sides = [built(terms, tree, turned=turned) for turned in (False, True)]
    found = recheck(document(terms.section(*sides)))
    if "ex2" not in str(tree) or not found.open:
        assert sum(found.elements.values()) == 1


@given(expressions(), expressions())
def test_terms_that_differ_at_numbers_are_never_stated_equal(left: Any, right: Any) -> None:
    """Evaluated with numpy at a few points; where both sides are numbers and differ, nothing is stated."""
    terms = Terms()
    sides = built(terms, left, turned=False), built(terms, right, turned=True)
    found = recheck(document(terms.section(*sides)))
    if sum(found.elements.values()):
        generator = np.random.default_rng(7)
        for values in generator.uniform(0.5, 1.5, (4, 3)):
            a, b = value_of(left, values), value_of(right, values)
            if np.isfinite(a) and np.isfinite(b):
                assert abs(a - b) <= 1e-9 * max(1.0, abs(a))


def value_of(tree: Any, values: np.ndarray[Any, Any]) -> float:
    from math import erf

    if isinstance(tree, int):
        return float(values[tree])
    name, *inner = tree
    given = [value_of(each, values) for each in inner]
    with np.errstate(all="ignore"):
        return float(
            {
                "sum": sum, "product": np.prod, "negated": lambda x: -x[0], "max": max,
                "ex2": lambda x: np.exp2(x[0]), "rsqrt": lambda x: 1 / np.sqrt(np.float64(x[0])),
                "erf": lambda x: erf(x[0]),
            }[name](given)
        )  # fmt: skip


@pytest.mark.parametrize("label", WRONG)
def test_what_the_checker_objects_to_is_never_stated(label: str) -> None:
    terms = CheckedTerms()
    sides = (np.array([int(side)], np.int32) for side in WRONG[label](terms))
    output = ShownOutput("Y", F32, "reals", np.array([0]), *sides, reordered=False)
    assert not recheck(document(section_of(terms.store, "", [output], []))).elements


# -- kernels
@pytest.mark.parametrize("file", ["softmax.ptx", "rms_norm.ptx"])
def test_certificates_of_kernels_recheck(file: str, tmp_path: Path) -> None:
    contract = tmp_path / "contract.toml"
    contract.write_text(row_contract(file, {"M": 2, "N": 64}), encoding="utf-8")
    found = kernels.verify(ROWS / file, contract, certified=True).found.certificate
    assert found is not None
    again = recheck(json.loads(json.dumps(found)))
    assert again.elements == {"reals": 128} and again.rows
    assert len(again.open) == 1 and NOT_OF_REALS in again.open[0]
