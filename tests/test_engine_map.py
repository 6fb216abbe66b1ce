"""The engine is built as its map says: imports go down the rows, and the machine knows no equality prover."""

from __future__ import annotations

import ast

import pytest
from engine_map import PACKAGE, descriptions, edges, rows, source
from source_modules import MODULE_FILES

from tools.measure import Graph, components, import_graph, parsed

PROVER = {"normal_forms", "equality", "errors", "hypotheses", "checker", "examine"}
"""What decides whether terms are equal, and what is asked when they are not."""

MACHINE = {
    "machine", "sizes", "ptx.text", "ptx.outline", "ptx.registers", "ptx.order", "ptx.state", "ptx.memory",
    "ptx.scalar",
    "ptx.synchronisation", "ptx.warp", "ptx.tensor_memory", "ptx.idioms", "ptx.run",
    "power.image", "power.state", "power.rows",
    "power.machine", "pto.text", "pto.pipes", "pto.tiles", "pto.run",
}  # fmt: skip
"""What runs kernels on terms."""


@pytest.fixture(scope="module")
def graph() -> Graph:
    trees = parsed(MODULE_FILES)
    return import_graph(trees, {name for name, path in MODULE_FILES.items() if path.stem == "__init__"})


def test_no_imports_run_in_a_circle(graph: Graph) -> None:
    """Not even those inside of functions, or for type checkers alone."""
    assert [sorted(part) for part in components(graph) if len(part) > 1] == []


@pytest.mark.every_run
def test_the_engine_is_built_as_its_map_says(graph: Graph) -> None:
    built, drawn = edges(graph), rows()
    assert built.keys() == drawn.keys()
    assert {name: built[name] - drawn[name] for name in built if built[name] - drawn[name]} == {}
    assert {name: drawn[name] - built[name] for name in built if drawn[name] - built[name]} == {}


def test_rows_import_only_of_rows_above_them() -> None:
    """The map lists what imports nothing first, so that it is read from the bottom up."""
    seen: set[str] = set()
    for name, imports in rows().items():
        assert imports <= seen, name
        seen.add(name)


def test_rows_say_what_their_docstrings_say() -> None:
    """The last column is the first line of the folder's, or the module's, docstring."""
    said = {
        name: (ast.get_docstring(ast.parse(source(name).read_text(encoding="utf-8"))) or "")
        for name in rows()
    }
    assert descriptions() == {name: text.partition("\n")[0].removesuffix(".") for name, text in said.items()}


def test_the_machine_knows_no_equality_prover() -> None:
    drawn = rows()
    assert drawn.keys() >= MACHINE and drawn.keys() >= PROVER
    below: dict[str, frozenset[str]] = {}
    for name, imports in drawn.items():
        below[name] = imports.union(*(below[each] for each in imports))
    assert {name: below[name] & PROVER for name in MACHINE if below[name] & PROVER} == {}


def test_an_edge_that_is_not_drawn_would_be_found() -> None:
    graph = {f"{PACKAGE}.terms.store": frozenset({f"{PACKAGE}.equality.equivalence"})}
    graph[f"{PACKAGE}.equality.equivalence"] = frozenset()
    assert edges(graph)["terms"] - rows()["terms"] == {"equality"}
