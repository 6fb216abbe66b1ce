"""The documented JSON schemas, applied: what is written has just the fields that they name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


@cache
def schema(name: str) -> dict[str, Any]:
    """Return a schema as it is published."""
    document: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return document


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    return jsonschema.Draft202012Validator(schema(name))


def validate(name: str, document: Any) -> None:
    """Check a document against a schema that is itself valid."""
    _validator(name).validate(document)


def fields(part: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that a schema names, each with those around it: ``findings/line``."""
    for name, inner in part.get("properties", {}).items():
        yield f"{path}{name}"
        yield from fields(inner.get("items", inner), f"{path}{name}/")


def written(document: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that a document has, as `fields` does those of its schema."""
    if isinstance(document, list):
        for each in document:
            yield from written(each, path)
    elif isinstance(document, dict):
        for name, inner in document.items():
            yield f"{path}{name}"
            yield from written(inner, f"{path}{name}/")
