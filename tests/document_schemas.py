"""The documented JSON schemas, applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


def validate(name: str, document: Any) -> None:
    """Check a document against a schema that is itself valid."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
