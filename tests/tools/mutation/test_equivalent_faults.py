"""Faults that change nothing: each way to show it, and a sibling that does change something."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_mutation_catalogue
import toy_specification

from mmaproof.proofs.catalogue import matching
from mmaproof.proofs.runner import Settings
from mmaproof.spec.formats import F64, Format
from tools.mutation import equivalents, scope, score_json
from tools.mutation.campaign import campaign
from tools.mutation.equivalents import (
    ANNOTATED,
    BRANCHES,
    BYTECODE,
    CONSTANT,
    EXPRESSION,
    EXTENT,
    FUNCTION,
    SPEECH,
    Equivalents,
)
from tools.mutation.scope import Role, SpecificationModule
from tools.mutation.score import Fate
from tools.mutation.source_faults import faults
from tools.mutation.surroundings import _formats, values_of

HEAD = """
from __future__ import annotations
from enum import Enum
from dataclasses import dataclass
import numpy as np
from mmaproof.spec.formats import FloatFormat, Format, IntegerFormat
from mmaproof.spec.layout_terms import is_power, log2

class Side(Enum):
    LEFT = 1
    RIGHT = 2

"""


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return how each fault of a text is shown to change nothing, by what it changes."""

    def of(text: str, role: Role = Role.SEMANTICS) -> dict[tuple[str, str], str]:
        path = tmp_path / "with_faults.py"
        path.write_text(HEAD + text)
        loaded = types.ModuleType("with_faults")
        exec(compile(path.read_text(), str(path), "exec"), vars(loaded))
        monkeypatch.setitem(sys.modules, "with_faults", loaded)
        module = SpecificationModule("with_faults", path, "with_faults.py", "", role)
        found = Equivalents([module])
        lines = HEAD.count("\n")
        return {
            (fault.old, fault.new): found.how(module, fault)
            for fault in faults(path.read_text())
            if fault.line > lines
        }

    return of


TYPES = "Pairing = tuple[str, dict[str, int]]\nPairings = list[Pairing]\n"
TYPES += "def f(rows: Pairings):\n    return len(rows) + 1\n"
WORDS = "def f(bits):\n    return bits & 7 | 8\n"
FORMATS = "def f(fmt: FloatFormat, x):\n    return x if fmt.bits <= {} else -x\n"
BOUNDARY = """
def f(x, weight: int):
    if weight > 1:
        x = x >> log2(weight) if is_power(weight) else x // weight
    return x
"""
CHOICE = "def f(x, a: int, b: int):\n    gain = a - b\n    return x << gain if gain >= 0 else x >> -gain\n"
CONSTANTS = "_LIMIT = {}\ndef f(fmt: FloatFormat, x):\n    return x if fmt.bits <= _LIMIT else -x\n"
FUNCTIONS = "def f(side: Side, wide: bool):\n    place = side.value * 2 + wide\n    return place >= {}\n"
MESSAGES = """
def f(x, count: int):
    what = "value" if count == 1 else "values"
    if x != count:
        yield f"there are {x} {what}, not {count}"
"""


def test_a_name_that_only_annotations_read_is_no_part_of_a_run(shown) -> None:
    assert ANNOTATED in set(shown(TYPES).values())
    read = TYPES + "\ndef g(rows):\n    return Pairings(rows)\n"
    assert ANNOTATED not in set(shown(read).values())
    told = TYPES.replace("list[Pairing]", "list[Pairing]\nclass Some(Pairing):\n    pass")
    assert ANNOTATED not in set(shown(told).values())
    of_schemas = (
        "from typing import Annotated\nPairing = Annotated[int, Size(1)]\ndef f(row: Pairing): pass\n"
    )
    assert ANNOTATED not in set(shown(f"class Size(int):\n    pass\n{of_schemas}").values())


def test_bits_that_are_set_or_masked_anyway(shown) -> None:
    found = shown(WORDS)
    assert found["7", "8"] == "" and found["8", "9"] == ""
    assert shown("def f(x):\n    return x\n    return 1\n")["1", "2"] == BYTECODE
    assert shown("def f(bits):\n    return bits & 15 | 8\n")["15", "16"] == ""
    masked = shown("def f(bits):\n    return (bits & 9) & 8\n")
    assert masked["9", "10"] == EXPRESSION  # bits 0 and 1 fall away
    assert masked["9", "8"] == EXPRESSION
    assert masked["8", "9"] == ""


def test_words_may_be_of_any_width_and_sign(shown) -> None:
    assert shown("def f(bits):\n    return bits & ((1 << 8) - 1) & 3\n")["8", "9"] == EXPRESSION
    assert shown("def f(bits):\n    return bits & ((1 << 8) - 1)\n")["8", "9"] == ""
    assert shown("def f(bits):\n    return (bits & 7) >= 0\n")["0", "1"] == ""


def test_what_is_no_longer_computed_might_raise(shown) -> None:
    assert shown("def f(x):\n    return x[0] & 0\n")["0", "1"] == ""


def test_what_may_be_no_integer_is_not_taken_for_one(shown) -> None:
    assert set(shown("def f(x, y):\n    return (x + y) - y + 0 * x\n").values()) == {""}
    assert shown(BOUNDARY.replace("weight: int", "weight: float"))["weight > 1", "weight >= 1"] == ""


def test_a_condition_is_the_same_for_every_format_there_is(shown) -> None:
    found = shown(FORMATS.format(24))
    assert found["24", "25"] == found["24", "23"] == EXPRESSION  # none of 24 or 25 bits
    assert shown(FORMATS.format(16))["16", "15"] == ""
    of_integers = shown(FORMATS.format(24).replace("FloatFormat", "IntegerFormat"))
    assert of_integers["24", "25"] == ""  # any number of bits


def test_a_parameter_that_is_bound_again_may_be_anything(shown) -> None:
    text = "def f(fmt: FloatFormat, x):\n    fmt = x\n    return x if fmt.bits <= 24 else -x\n"
    assert shown(text)["24", "25"] == ""


GUARDED = """
def f(fmt: FloatFormat, side: Side, x):
    if {}:
        return x + (fmt.fraction_bits > 10)
    return x - (fmt.fraction_bits > 0)
"""
LEFT = """
def f(fmt: FloatFormat, xs):
    for x in xs:
        if fmt.subnormals:
            {}
        yield x + (fmt.fraction_bits > 10)
"""


def test_what_a_condition_lets_through_is_all_that_counts(shown) -> None:
    changed = "10", "9"
    assert shown(GUARDED.format("not fmt.subnormals"))[changed] == EXPRESSION  # ue8m0, without a fraction
    for condition in ("fmt.subnormals", "side is Side.LEFT", "not fmt.subnormals and x", "x"):
        assert shown(GUARDED.format(condition))[changed] == ""
    again = GUARDED.format("not fmt.subnormals").replace("    if", "    fmt = x\n    if")
    assert shown(again)[changed] == ""  # what is tested is another format
    local = GUARDED.replace("    if", "    plain = not fmt.subnormals\n    if")
    assert shown(local.format("plain"))[changed] == ""


def test_what_a_condition_leaves_behind_does_not_count(shown) -> None:
    behind = "fmt.fraction_bits > 0", "fmt.fraction_bits >= 0"
    assert shown(GUARDED.format("not fmt.subnormals"))[behind] == EXPRESSION  # all others have a fraction
    assert shown(GUARDED.format("fmt.subnormals"))[behind] == ""
    for leaving in ("continue", "break", "return"):
        assert shown(LEFT.format(leaving))["10", "9"] == EXPRESSION
    assert shown(LEFT.format("x = 2"))["10", "9"] == ""
    inside = LEFT.format("return").replace("        if fmt", "        if x:\n          if fmt")
    assert shown(inside)["10", "9"] == ""  # it may not be tested


def test_code_that_no_argument_reaches_is_not_taken_for_right(shown) -> None:
    text = GUARDED.format("fmt is None").replace("> 10", "> 80")
    assert shown(text)["80", "81"] == ""


def test_branches_that_do_the_same_where_comparisons_differ(shown) -> None:
    found = shown(BOUNDARY)
    assert found["weight > 1", "weight >= 1"] == BRANCHES
    assert found["weight > 1", "weight <= 1"] == found["1", "2"] == ""  # at 2, x >> 1 is another
    assert found["1", "0"] == BRANCHES
    chosen = shown(CHOICE)
    assert chosen["gain >= 0", "gain > 0"] == BRANCHES
    assert chosen["0", "1"] == BRANCHES
    assert chosen["gain >= 0", "gain < 0"] == ""
    assert shown(CHOICE.replace("x >> -gain", "x >> 1 - gain"))["gain >= 0", "gain > 0"] == ""


def test_a_constant_that_is_read_alike(shown) -> None:
    assert shown(CONSTANTS.format(24))["24", "25"] == CONSTANT
    assert shown(CONSTANTS.format(16))["16", "15"] == ""
    exported = CONSTANTS.format(24).replace("_LIMIT", "LIMIT")
    assert shown(exported)["24", "25"] == ""  # others may read it
    read_otherwise = CONSTANTS.format(24) + "def g(table):\n    return table[_LIMIT]\n"
    assert shown(read_otherwise)["24", "25"] == ""
    table = "_SIDES = {Side.LEFT: 4, Side.RIGHT: 5}\ndef f(side):\n    return _SIDES[side]\n"
    assert set(shown(table).values()) == {""}


def test_a_function_of_few_arguments_is_tried_on_all(shown) -> None:
    found = shown(FUNCTIONS.format(1))
    assert found["side.value * 2 + wide", "side.value * 2 - wide"] == FUNCTION
    assert found["place >= 1", "place > 1"] == FUNCTION
    assert found["place >= 1", "place < 1"] == ""
    assert shown(FUNCTIONS.format(2))["place >= 2", "place > 2"] == ""


def test_numpy_computes_an_extent_that_is_negative(shown) -> None:
    assert shown("def f(x, n):\n    return x.reshape(n, -1)\n") == {
        ("-1", "1"): "", ("1", "2"): EXTENT, ("1", "0"): "",
    }  # fmt: skip
    assert set(shown("def f(x):\n    return x.take(-1)[-1]\n").values()) == {""}
    for negative in (-1, -2):
        assert np.arange(6).reshape(2, negative).shape == (2, 3)


def test_a_fault_may_not_end(shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalents, "_SECONDS", 0.2)
    text = "def f(wide: bool):\n    x = 8\n    while x > 0:\n        x = x - 2\n    return x\n"
    assert shown(text)["x - 2", "x + 2"] == ""


ROWS = """
_ROWS = ((1, ("a", "a")), (2, ("b", "b")))
def f():
    for number, names in _ROWS:
        yield number, names[0] == "b"
"""


def test_loops_over_a_table_are_tried_on_its_rows(shown) -> None:
    assert shown(ROWS)["0", "1"] == EXPRESSION
    assert shown(ROWS.replace('("b", "b")', '("b", "c")'))["0", "1"] == ""
    assert shown(ROWS.replace("_ROWS = (", "_ROWS = list[int] or ("))["0", "1"] == ""
    again = ROWS.replace("yield number", "names = str(number)\n        yield number")
    assert shown(again)["0", "1"] == ""
    after = ROWS + '    return names[0] == "b"\n'
    assert shown(after)["0", "1"] == ""  # the later one may be of no row


def test_what_only_messages_tell(shown) -> None:
    found = shown(MESSAGES, Role.LEGALITY)
    assert found["count == 1", "count != 1"] == SPEECH
    assert found["x != count", "x == count"] == ""
    assert shown(MESSAGES)["count == 1", "count != 1"] == ""  # elsewhere, a text may be an instruction's
    both = MESSAGES.replace("what =", "what, most =").replace('"values"', '"values", 8')
    assert shown(both, Role.LEGALITY)["8", "9"] == ""  # nobody tells it
    both = both.replace("not {count}", "at most {most}")
    assert shown(both, Role.LEGALITY)["8", "9"] == SPEECH
    tested = MESSAGES.replace("x != count", "what and x != count")
    assert shown(tested, Role.LEGALITY)["count == 1", "count != 1"] == ""


def test_private_functions_whose_results_only_messages_tell(shown) -> None:
    text = "def _spelled(x):\n    return x + 1\n"
    text += "def f(x):\n    if x > 2:\n        raise ValueError(_spelled(x))\n"
    assert shown(text)["x + 1", "x - 1"] == SPEECH
    assert shown(text + "    return _spelled(x)\n")["x + 1", "x - 1"] == ""
    assert shown(text.replace("_spelled", "spelled"))["x + 1", "x - 1"] == ""


def test_what_a_message_is_made_of_must_be_there(shown) -> None:
    text = "def f(xs):\n    if xs:\n        first = {}\n        raise ValueError(f'{{first}} is wrong')\n"
    assert shown(text.format("len(xs) + 1"))["1", "2"] == SPEECH
    assert shown(text.format("xs[0]"))["0", "1"] == ""
    assert shown(text.format("min(xs | 1)"))["xs | 1", "xs & 1"] == ""


def test_of_values_assigned_together_each_is_told_or_not(shown) -> None:
    text = "def _place(x):\n    return x + 1\ndef _value(x):\n    return x + 2\n"
    text += "def f(x):\n    place, value = _place(x), _value(x)\n"
    text += "    if value > 8:\n        raise ValueError(place)\n    return value\n"
    found = shown(text)
    assert found["x + 1", "x - 1"] == SPEECH and found["x + 2", "x - 2"] == ""
    assert shown(text.replace("_place(x), _value(x)", "_value(x), _place(x)"))["x + 1", "x - 1"] == ""
    assert shown(text.replace("return value", "return place"))["x + 1", "x - 1"] == ""


def test_known_equivalents_of_the_specification_and_their_siblings() -> None:
    modules = {module.shown: module for module in scope.modules_of(["power"])}
    found = Equivalents(list(modules.values()))

    def how(name: str, old: str, new: str) -> str:
        module = modules[name]
        changes = [f for f in faults(module.path.read_text()) if (f.old, f.new) == (old, new)]
        return found.how(module, changes[0])

    assert how("spec/float_encoding.py", "17", "18") == CONSTANT
    assert how("spec/float_encoding.py", "17", "16") == ""
    assert how("spec/float_encoding.py", "gain >= 0", "gain > 0") == BRANCHES
    assert how("spec/float_encoding.py", "gain >= 0", "gain < 0") == ""
    assert how("spec/layout_terms.py", "self.weight > 1", "self.weight >= 1") == BRANCHES
    assert how("spec/layout_terms.py", "self.weight > 1", "self.weight <= 1") == ""


def test_formats_that_others_have_made_are_none_of_the_specification() -> None:
    other = replace(F64, name="other")
    _formats.cache_clear()
    assert F64 in (found := values_of(Format) or ()) and other not in found


def test_a_campaign_puts_equivalent_faults_back_and_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(toy_specification.__file__)
    module = SpecificationModule("toy_specification", source, "toy.py", "toy", Role.SEMANTICS)
    settings = Settings(jobs=1, catalogue=toy_mutation_catalogue.CATALOGUE)
    shown = {"256": "shown by a test"}
    monkeypatch.setattr(Equivalents, "how", lambda _, module, fault: shown.get(fault.old, ""))
    obligations = list(toy_mutation_catalogue.obligations().values())
    score = campaign(obligations, [module], 1000, 0, settings)
    document = score_json.document(score, "1.2.3", 0, ["toy"])
    assert [(e["old"], e["new"]) for e in document["equivalent"]] == [("256", "257"), ("256", "255")]
    assert not any(result.mutant.fault.old == "256" for result in score.results)
    assert len(document["equivalent"]) == document["summary"]["equivalent"] == len(score.equivalent)
    assert all(each["how"] for each in document["equivalent"])


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [20, 21])
def test_faults_that_change_nothing_survive_trials(seed: int) -> None:
    """The cross-check: what is shown to change nothing is tried all the same.

    Messages may be stated, and other ones be noticed; nothing else is, and there is a message in any case.
    """
    obligations, modules = matching(("power",)), scope.modules_of(["power"])
    score = campaign(obligations, modules, 25, seed, Settings(jobs=2), recognised=True)
    shown = {each.mutant: each.how for each in score.equivalent}
    allowed = {
        each: {Fate.SURVIVED} | ({Fate.REFUTED} if how == SPEECH else set()) for each, how in shown.items()
    }
    wrong = [result for result in score.results if result.outcome not in allowed[result.mutant]]
    assert len(score.results) == 25 and wrong == []
