"""The catalogue: patterns select the same as a look at every id, and build no more than they may select."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmaproof.proofs
from mmaproof.proofs import catalogue
from mmaproof.spec.errors import InputError


@cache
def ids() -> list[str]:
    """Return the id of every obligation: not when tests are collected."""
    return list(catalogue.obligations())


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Beginnings of ids, some characters of which are wildcards."""
    identifier = draw(st.sampled_from(ids()))
    text = list(identifier[: draw(st.integers(0, len(identifier)))])
    for place in draw(st.sets(st.integers(0, max(0, len(text) - 1)), max_size=2)):
        if text:
            text[place] = draw(st.sampled_from(["*", "?", f"[{text[place]}x]", "[!~]"]))
    return "".join(text) + draw(st.sampled_from(["", "*", "/"]))


@given(st.lists(patterns(), max_size=3))
def test_patterns_select_what_a_look_at_every_id_selects(chosen: list[str]) -> None:
    expected = [i for i in ids() if not chosen or any(catalogue.matches(i, pattern) for pattern in chosen)]
    assert [obligation.id for obligation in catalogue.matching(chosen)] == expected


@pytest.mark.parametrize("isa", (*catalogue.NAMES, catalogue.ENGINE))
def test_every_module_with_theorems_has_its_family(isa: str) -> None:
    package = f"mmaproof.proofs.{isa}"
    stems = {path.stem for path in Path(mmaproof.proofs.__path__[0], isa).glob("*.py")} - {"__init__"}
    having = {stem for stem in stems if hasattr(import_module(f"{package}.{stem}"), "THEOREMS")}
    families = import_module(package).FAMILIES
    listed = {(family, module) for family, modules in families.items() for module in modules}
    assert sum(map(len, families.values())) == len(listed) and {module for _, module in listed} == having
    theorems = {stem: import_module(f"{package}.{stem}").THEOREMS for stem in having}
    assert listed == {(t.id.split("/")[1], stem) for stem, having in theorems.items() for t in having}
    assert {t.id.split("/")[0] for having in theorems.values() for t in having} == {isa}


def test_theorems_have_ids_of_their_own() -> None:
    identifiers = [theorem.id for theorem in catalogue.theorems()]
    assert len(identifiers) == len(set(identifiers)) and len(ids()) == len(set(ids()))
    assert [a for a in identifiers for b in identifiers if b.startswith(a + "/")] == []


def test_what_a_pattern_cannot_select_is_not_imported() -> None:
    program = (
        "import sys; from mmaproof.proofs.catalogue import obligations, select;"
        "select(['power/state']); 'power/state/initial/all' in obligations(); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = {name for name in loaded.stdout.split() if name.startswith("mmaproof.proofs.")}
    assert "mmaproof.proofs.power.state" in modules
    assert (
        modules & {f"mmaproof.proofs.{n}" for n in ("power.blocked", "ptx.blocked", "pto.blocked")} == set()
    )


@pytest.mark.parametrize("identifier", ["", "power", "power/state/initial", "power/nothing/at/all", "*"])
def test_what_is_no_id_is_not_in_the_catalogue(identifier: str) -> None:
    assert identifier not in catalogue.obligations()
    assert catalogue.obligations().get(identifier) is None


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("power/integer/ordr", r"did you mean power/integers/order( or [\w/-]+)*\?"),
        ("ptx/layout", r"did you mean ptx/fragment/layout( or [\w/-]+)*\?"),
        ("vax", "mmaproof list shows what there is"),
        ("*é", "mmaproof list shows what there is"),
    ],
)
def test_a_pattern_that_selects_nothing_is_named_with_theorems_like_it(pattern: str, hint: str) -> None:
    with pytest.raises(InputError, match=rf"^no obligation matches '{re.escape(pattern)}'; {hint}$"):
        catalogue.select(["ptx/warp", pattern])


COMPARED = """
import sys
from pathlib import Path
from mmaproof.proofs import catalogue

def said():
    obligations = catalogue.select([])
    assert all(catalogue.obligations()[each.id] is each for each in obligations)
    fields = ("id", "statement", "expect", "equality", "method", "choices", "source")
    theorems = [(each.id, each.title, each.statement, each.source) for each in catalogue.theorems(["power/"])]
    return theorems, [[getattr(each, name) for name in fields] for each in obligations]

identifier = "power/state/aliasing/any-program"
catalogue.remember(Path(sys.argv[1]), ())
remembered, goal = said(), catalogue.obligations()[identifier].goal
imported = "mmaproof.proofs.power.state" in sys.modules
goal = goal()
catalogue._remembered.clear()
assert remembered == said()
assert goal == catalogue.obligations()[identifier].goal()
print(imported)
"""


def test_the_remembered_catalogue_says_what_the_built_one_says(tmp_path: Path) -> None:
    """In processes of their own: the first one fills the cache, the second imports no theorem."""
    command = [sys.executable, "-c", COMPARED, str(tmp_path)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout for run in runs] == ["True\n", "False\n"]
