"""Which JSON documents there are, each with the model that it is written from, or read into."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from schema_generation import DIALECT, Schema, document_schema, schema_of

from mmaproof.cli.layout_comparison import ComparedLayout
from mmaproof.cli.legality import Request, TableDocument, _tables_of_kernels
from mmaproof.gating.columns import COLUMNS, INSTRUCTION, LAYOUT, OPERAND, SHAPE, TYPES
from mmaproof.proofs.listing import Listing
from mmaproof.proofs.replay import SavedCounterexample
from mmaproof.refinement.examine.counterexample_document import SavedKernelCounterexample
from mmaproof.refinement.findings.result import SCHEMA, Result
from mmaproof.reports.check_document import CheckDocument
from mmaproof.reports.findings_document import FindingsDocument
from mmaproof.reports.layout_answer import LayoutDocument
from mmaproof.reports.legality_answer import ConsistentAnswer
from mmaproof.reports.sarif import Log
from mmaproof.spec.foreign_layouts.comparison import Comparison
from mmaproof.spec.instruction_set import NAMES, instruction_set
from mmaproof.spec.json_fields import Keyword, Some
from tools.mutation.score_json import ScoreDocument

Cell = str | int | bool | None | Some[str | int]


class Extents(TypedDict, total=False):
    """A shape by its extents.

    Attributes
    ----------
    m, n, k : int
        Rows and columns of the product, and the length of the sums.
    """

    m: int
    n: int
    k: int


CELLS: dict[str, Any] = {
    SHAPE: Cell | Annotated[Extents, Keyword("additionalProperties", False)] | list[list[int]],
    TYPES: str | list[str] | dict[str, Any],
    LAYOUT: str | dict[str, Any] | list[Any],
}
"""What columns may hold besides a value or a list of them."""


class Table(TypedDict, total=False):
    """A table with what holds for all its rows.

    Attributes
    ----------
    schema : int
        Version of the document.
    title : str
        What it is called.
    defaults : object
        Cells of rows that don't state them.
    columns : object
        What columns mean; nothing: ignore.
    """

    schema: Annotated[int, Keyword("const", 1)]
    title: str
    defaults: dict[str, Any]
    columns: dict[str, str]


def gate_table() -> Schema:
    """Return the schema of a constraint table: its columns are those that `gate` knows."""
    cells = {
        column.name: {**schema_of(CELLS.get(column.name, Cell), closed=False), "description": column.meaning}
        for column in COLUMNS
    }
    row = {
        "type": "object",
        "properties": cells,
        "minProperties": 1,
        "additionalProperties": True,
        "dependentRequired": {OPERAND: [INSTRUCTION, LAYOUT]},
    }
    rows = {"type": "array", "items": row, "minItems": 1}
    table = schema_of(Table, closed=False)
    table["properties"]["rows"] = {"$ref": "#/$defs/rows"}
    return {
        "$schema": DIALECT,
        "title": "A constraint table for `mmaproof gate`",
        "description": "Columns have further names, and others can be renamed: docs/gate.md.",
        "$defs": {"rows": rows},
        "oneOf": [{"$ref": "#/$defs/rows"}, {**table, "required": ["rows"]}],
    }


def tables() -> Schema:
    """Return the schema of `tables`: the names are those of the tables that there are."""
    names = {table for name in NAMES for table in (*instruction_set(name).tables, *_tables_of_kernels(name))}
    found = document_schema(TableDocument, closed=True)
    found["properties"]["table"]["enum"] = sorted(names)
    return found


DOCUMENTS: dict[str, Schema] = {
    "check": document_schema(CheckDocument, closed=True),
    "counterexample": document_schema(SavedCounterexample, closed=True),
    "gate": document_schema(FindingsDocument, closed=True),
    "gate-table": gate_table(),
    "kernel-counterexample": document_schema(SavedKernelCounterexample, closed=True),
    "layout": document_schema(LayoutDocument, closed=True),
    "layout-comparison": document_schema(ComparedLayout, Comparison, closed=True),
    "legal": document_schema(ConsistentAnswer, closed=True),
    "legal-request": document_schema(Request, closed=False),
    "list": document_schema(Listing, closed=True),
    "mutants": document_schema(ScoreDocument, closed=True),
    "sarif-subset": document_schema(Log, closed=False),
    "tables": tables(),
    "verify": document_schema(Result, closed=True, constants={"schema": SCHEMA}),
}
"""The schemas by the names of their files. What others write, or is a part, may have more fields."""
