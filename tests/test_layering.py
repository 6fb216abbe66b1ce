"""Imports go down only, commands start without a solver, and no module grows beyond reading."""

from __future__ import annotations

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from pkgutil import iter_modules

import pytest
from source_modules import LAYERS, RANKS, REPOSITORY, Module, modules

import mmaproof

SOLVERS = {"z3", "sympy", "bitwuzla", "cvc5", "pysat"}
TERMINAL = {"rich", "typer", "click"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "core", "tools", "stuff"}
MODULES = modules()
RULES = "mmaproof.refinement.rules"
"""Rows of data of the verifier, each a theorem: the only modules beside it that theorems may read."""


def test_imports_go_down() -> None:
    upward = [
        f"{module.path}:{found.line}: {found.target}"
        for module in MODULES
        for found in module.imports()
        if found.target.startswith("mmaproof.")
        and (target := found.target.split(".")[1]) in RANKS
        and target != module.layer
        and RANKS[target] >= RANKS[module.layer]
        and not (module.layer == "proofs" and found.target.startswith(RULES))
    ]
    assert upward == []


def test_rules_are_data_that_import_nothing_but_each_other() -> None:
    """Theorems read them, so they know nothing of the verifier; only the theorems about it read them."""
    rules = [module for module in MODULES if module.name.startswith(RULES)]
    wrong = [
        f"{module.path}:{found.line}: {found.target}"
        for module in rules
        for found in module.imports()
        if found.target.startswith("mmaproof.") and not found.target.startswith(RULES)
    ]
    readers = {
        module.path.parent
        for module in MODULES
        if module.layer == "proofs" and any(found.target.startswith(RULES) for found in module.imports())
    }
    assert rules and wrong == []
    assert readers == {Path("proofs/engine")}


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer != "refinement"])
def test_no_imports_run_in_a_circle(layer: str) -> None:
    """Not even those inside of functions, or for type checkers alone."""
    own = [module for module in MODULES if module.layer == layer]
    files = {module.name: module for module in own if module.path.name != "__init__.py"}
    graph = {
        name: {
            target
            for found in module.imports()
            for target in (found.target, found.target.rpartition(".")[0])
            if target in files and target != name
        }
        for name, module in files.items()
    }
    assert any(graph.values())
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError, with the circle


def test_the_package_imports_nothing_that_is_not_installed() -> None:
    """But by name: `cli.mutation` looks for ``tools/`` when it is asked for faults."""
    outside = {"tools", "tests", "benchmarks", "docs"}
    found = [(m.path, found.target) for m in MODULES for found in m.imports()]
    assert [(path, target) for path, target in found if target.split(".")[0] in outside] == []


def test_solvers_and_terminals_stay_in_their_layers() -> None:
    found = [
        f"{module.path}:{found.line}: {found.target}"
        for module in MODULES
        for found in module.imports()
        if found.target.split(".")[0]
        in (SOLVERS if module.layer == "spec" else set()) | (TERMINAL if module.layer != "cli" else set())
    ]
    assert found == []


def test_an_upward_import_would_be_found() -> None:
    path = next(module.path for module in MODULES if module.layer == "spec")
    text = "def late():\n    from ..proofs import catalogue\n"
    deeper = Module(path.parent / "power" / "new.py", "def late():\n    from ...proofs import catalogue\n")
    assert [found.target for found in Module(path.parent / "new.py", text).imports()] == [
        "mmaproof.proofs.catalogue"
    ]
    assert [(found.target, found.at_start) for found in deeper.imports()] == [
        ("mmaproof.proofs.catalogue", False)
    ]


def test_names_say_what_is_inside() -> None:
    assert [module.path for module in MODULES if VAGUE & {module.path.stem, *module.path.parts}] == []


def test_modules_are_short_enough_to_read() -> None:
    tools = {path: path.read_text(encoding="utf-8") for path in (REPOSITORY / "tools").rglob("*.py")}
    texts = {module.path: module.text for module in MODULES} | tools
    assert [path for path, text in texts.items() if len(text.splitlines()) > 500] == []


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("from mmaproof.cli.app import command_line; command_line()", {"numpy", "rich", "jinja2", *SOLVERS}),
        ("import mmaproof.spec.power.rank_k_update", SOLVERS | TERMINAL),
        ("import mmaproof.reports.json_report", {"jinja2", *TERMINAL}),
    ],
)
def test_what_an_import_does_not_load(statement: str, unwanted: set[str]) -> None:
    program = f"import sys; {statement}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) & unwanted == set()


def test_the_package_has_nothing_but_the_layers() -> None:
    """And its doors: ``python -m mmaproof``, and the compilers that load on first use."""
    folders = {Path(folder) for folder in mmaproof.__path__}
    names = {found.name for found in iter_modules(map(str, folders))}
    assert names <= {*LAYERS, "__main__", "torch", "triton", "version", "examples"} and set(LAYERS) <= names
    assert mmaproof.__doc__


def test_what_is_stated_a_second_time_knows_nothing_of_the_specification() -> None:
    stated = [module for module in MODULES if "stated" in module.path.parts]
    allowed = ("mmaproof.proofs.text_tables", *(module.name.removesuffix(".__init__") for module in stated))
    found = [
        f"{module.path}:{found.line}: {found.target}"
        for module in stated
        for found in module.imports()
        if found.target.startswith("mmaproof.") and not found.target.startswith(allowed)
    ]
    assert stated and found == []
