"""Properties of the solvers: all answer alike, models satisfy the query, texts stand for formulas."""

import subprocess
import sys

import pytest
import z3
from z3 import z3util

from mmaproof.smt import portfolio, smtlib
from mmaproof.smt.portfolio import DisagreementError, ask, names_for, solvers_for
from mmaproof.smt.solvers import Answer, Query
from mmaproof.spec.errors import InputError

SOLVERS = {solver.name.split()[0]: solver for solver in solvers_for("all")}


def integers():
    x, y = z3.BitVec("x", 32), z3.BitVec("y_0_1", 32)
    return {
        "unsat": [(x & y) + (x | y) != x + y],
        "sat": [x * y == 0xDEADBEEF, z3.ULT(x, 1 << 16), z3.ULT(1, x)],
    }


def functions():
    f = z3.Function("fused 1 of f16", z3.BitVecSort(16), z3.BitVecSort(16), z3.BitVecSort(16))
    x, y = z3.BitVec("odd name", 16), z3.BitVec("y", 16)
    return {"unsat": [x == y, f(x, y) != f(y, x)], "sat": [f(x, y) != f(y, x), z3.UGT(x, 0xFFFE)]}


def floats(sort, bits):
    def queries():
        x, y = z3.BitVec("x", bits), z3.BitVec("y", bits)
        a, b = z3.fpBVToFP(x, sort), z3.fpBVToFP(y, sort)
        left, right = (z3.fpToIEEEBV(z3.fpAdd(z3.RNE(), *pair)) for pair in ((a, b), (b, a)))
        number = z3.Not(z3.fpIsNaN(z3.fpAdd(z3.RNE(), a, b)))
        again = z3.fpToIEEEBV(z3.fpNeg(z3.fpBVToFP(left, sort)))
        return {
            "unsat": [number, left != right],
            "sat": [
                number,
                again == 1 << (bits - 1),
                z3.Not(z3.fpIsZero(a)),
                z3.fpIsNormal(a),
                z3.fpIsNegative(a),
            ],
        }

    return queries


def directions():
    x, rn = z3.BitVec("x", 16), z3.BitVec("rounding", 2)
    mode = z3.If(rn == 0, z3.RNE(), z3.If(rn == 1, z3.RTZ(), z3.If(rn == 2, z3.RTP(), z3.RTN())))
    value = z3.fpBVToFP(x, z3.Float16())
    zero = z3.fpSub(mode, value, value)
    negative = [z3.fpIsZero(zero), z3.fpIsNegative(zero)]
    return {"unsat": [*negative, rn != 3], "sat": negative}


THEORIES = {
    "integers": integers,
    "functions": functions,
    "f16": floats(z3.Float16(), 16),
    "f32": floats(z3.Float32(), 32),
    "f64": floats(z3.Float64(), 64),
    "directions": directions,
}


def query(theory, status):
    return Query(tuple(THEORIES[theory]()[status]), trivial=False)


def satisfied(question, model):
    """Tell whether a model satisfies a query; what it leaves out is 0, functions are free."""
    solver = z3.Solver()
    solver.add(*question.assertions)
    constants = [term for term in z3util.get_vars(z3.And(*question.assertions)) if z3.is_bv(term)]
    solver.add(*[term == model.get(term.decl().name(), 0) for term in constants if term.decl().arity() == 0])
    return solver.check() == z3.sat


@pytest.mark.parametrize("status", ["sat", "unsat"])
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_answers_every_theory(name, theory, status):
    question = query(theory, status)
    answer = SOLVERS[name].check(question, 60)
    assert (answer.status, answer.message, answer.solver) == (status, "", SOLVERS[name].name)
    assert status == "unsat" or satisfied(question, answer.model)


@pytest.mark.parametrize("name", SOLVERS)
def test_models_name_constants_as_the_query_does(name):
    x, y = z3.BitVec("odd name", 64), z3.BitVec("y_0_1", 4)
    answer = SOLVERS[name].check(Query((x == (1 << 63) + 5, y == 11), trivial=False), 10)
    assert answer.model == {"odd name": (1 << 63) + 5, "y_0_1": 11}


@pytest.mark.parametrize("name", SOLVERS)
def test_what_a_solver_can_not_take_is_unknown_with_a_reason(name):
    class Broken(Query):
        @property
        def assertions(self):
            raise z3.Z3Exception("no such operator")

        def smtlib(self):
            return "(set-logic QF_BV)\n(assert (no_such_operator #b1))\n(check-sat)\n"

    question = Broken.__new__(Broken)
    answer = SOLVERS[name].check(question, 10)
    assert answer.status == "unknown"
    assert "no" in answer.message
    assert "\n" not in answer.message


class Scripted:
    def __init__(self, name, status, **rest):
        self.name = name
        self.answer = Answer(status, name, **rest)

    def check(self, query, timeout):
        return self.answer


QUESTION = query("integers", "sat")


@pytest.mark.parametrize("status", ["sat", "unsat"])
def test_all_solvers_agree(status):
    for theory in THEORIES:
        answer = ask(list(SOLVERS.values()), query(theory, status), 60)
        assert answer.status == status
        assert answer.solver == ", ".join(solver.name for solver in SOLVERS.values())


def test_a_disagreement_is_no_answer():
    liar = Scripted("liar 1", "unsat")
    with pytest.raises(DisagreementError) as caught:
        ask([SOLVERS["z3"], liar], QUESTION, 10)
    assert str(caught.value) == f"solvers disagree: {SOLVERS['z3'].name} says sat, liar 1 says unsat"


def test_an_undecided_solver_is_named_and_contradicts_nobody():
    undecided = Scripted("slow 1", "unknown", message="timeout after 1 s")
    answer = ask([undecided, Scripted("fast 1", "sat", model={"x": 1})], QUESTION, 1)
    assert (answer.status, answer.model) == ("sat", {"x": 1})
    assert answer.solver == "fast 1 (slow 1: timeout after 1 s)"


def test_nobody_decides():
    answer = ask([Scripted(name, "unknown", message="gave up") for name in ("a 1", "b 1")], QUESTION, 1)
    assert (answer.status, answer.solver) == ("unknown", "a 1, b 1")
    assert answer.message == "a 1: gave up; b 1: gave up"


def test_an_answer_is_cached_only_when_every_part_is():
    cached, fresh = Scripted("a 1", "unsat", cached=True), Scripted("b 1", "unsat")
    assert ask([cached, cached], QUESTION, 1).cached
    assert not ask([cached, fresh], QUESTION, 1).cached


def test_solvers_that_are_missing_say_what_to_install(monkeypatch):
    monkeypatch.setattr(portfolio, "find_spec", lambda name: None)
    assert names_for("z3") == ("z3",)
    for choice, missing in (
        ("cvc5", "solver 'cvc5' is"),
        ("all", "solvers 'bitwuzla' and 'cvc5' are"),
    ):
        with pytest.raises(InputError) as caught:
            names_for(choice)
        assert str(caught.value) == f"{missing} not installed; pip install 'mmaproof[solvers]'"
    monkeypatch.setattr(portfolio, "find_spec", lambda name: None if name == "cvc5" else name)
    with pytest.raises(InputError, match="solver 'cvc5' is not installed"):
        names_for("all")


@pytest.mark.parametrize("theory", THEORIES)
def test_a_formula_has_one_text_whatever_was_built_before(theory):
    first = query(theory, "sat")
    texts = first.text, first.smtlib()
    clutter = [z3.BitVec(f"clutter{i}", 8) + i for i in range(100)]
    again = query(theory, "sat")
    assert (again.text, again.smtlib()) == texts
    assert query(theory, "unsat").text != first.text
    assert len(clutter) == 100


@pytest.mark.parametrize("status", ["sat", "unsat"])
@pytest.mark.parametrize("theory", THEORIES)
def test_scripts_say_the_same_to_z3_without_its_own_operators(theory, status):
    script = query(theory, status).smtlib()
    assert "to_ieee_bv" not in script
    assert script.endswith("(check-sat)\n")
    solver = z3.Solver()
    solver.from_string(script)
    assert str(solver.check()) == status


def test_the_encoding_of_a_nan_is_open_in_scripts():
    x = z3.BitVec("x", 16)
    nan = z3.fpBVToFP(x, z3.Float16())
    encoding = z3.fpToIEEEBV(nan)
    question = Query((z3.fpIsNaN(nan), encoding == 0x7C01, z3.Not(encoding == 0x7C00)), trivial=False)
    solver = z3.Solver()
    solver.from_string(question.smtlib())
    assert solver.check() == z3.sat


@pytest.mark.parametrize("name", SOLVERS)
def test_connectives_of_one_term_are_written_as_the_term(name):
    x, y = z3.BitVec("a (or b)", 8), z3.BitVec("y", 8)
    either = z3.Or(z3.And(z3.Not(z3.Or(x == 1)), z3.And(z3.Or(x == y))))
    question = Query((either, z3.And(z3.Or(y == 3))), trivial=False)
    assert "(or" not in question.smtlib().replace("|a (or b)|", "")
    assert SOLVERS[name].check(question, 10).model == {"a (or b)": 3, "y": 3}


@pytest.mark.parametrize(
    ("theory", "expected"), [("integers", "QF_BV"), ("functions", "QF_UFBV"), ("f32", "QF_BVFP")]
)
def test_scripts_name_the_smallest_logic(theory, expected):
    assert query(theory, "unsat").smtlib().startswith(f"(set-logic {expected})\n")


def test_formulas_of_another_process_have_the_same_text():
    program = (
        "import z3; clutter = [z3.BitVec(f'c{i}', 8) * i for i in range(50)]\n"
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from mmaproof.smt import smtlib\n"
        "x, y = z3.BitVecs('x y', 8)\n"
        "print(smtlib.printed([(x + y) * (x + y) == (y - x), z3.Or(x == y, x + y == 3)]), end='')"
    )
    x, y = z3.BitVecs("x y", 8)
    here = smtlib.printed([(x + y) * (x + y) == (y - x), z3.Or(x == y, x + y == 3)])
    there = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert there == here
