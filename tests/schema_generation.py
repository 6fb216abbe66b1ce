"""JSON schemas, generated from the dataclasses and typed dictionaries that documents are written from.

Written anew, from the root of the repository::

    PYTHONPATH=. python tests/schema_generation.py
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from mmaproof.spec.json_fields import Keyword, WrittenAs

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}

_ENTRY = re.compile(r"^([\w$]+(?:, [\w$]+)*) :.*\n((?:    .*\n?|\n)+)", re.MULTILINE)


def schema_of(shape: Any, *, closed: bool) -> Schema:
    """Return the schema of a type.

    Parameters
    ----------
    shape : type
        A plain type, an enumeration, a container, a union, or a model: a dataclass, a named tuple or a typed
        dictionary, whose attributes are all described.
    closed : bool
        Whether a model has the fields that it names, and no others.
    """

    def of(inner: Any) -> Schema:
        return schema_of(inner, closed=closed)

    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Annotated:
        shapes = [each.shape for each in shape.__metadata__ if isinstance(each, WrittenAs)]
        keywords = {each.name: each.value for each in shape.__metadata__ if isinstance(each, Keyword)}
        return of(shapes[0] if shapes else arguments[0]) | keywords
    if origin is Literal:
        return _words(arguments)
    if origin in (Union, UnionType):
        return _either([of(argument) for argument in arguments])
    if shape in _PLAIN:
        return {"type": _PLAIN[shape]}
    if shape in (Any, object):
        return {}
    if isinstance(shape, type) and issubclass(shape, Enum):
        return _words(list(shape))
    if _is_model(shape):
        return _model(shape, closed=closed)
    kind = origin or shape
    if isinstance(kind, type) and issubclass(kind, Mapping):
        names, values = ((), {}) if not arguments else (of(arguments[0]), of(arguments[1]))
        named = {"propertyNames": names} if "enum" in names else {}
        return {"type": "object", **named, **({"additionalProperties": values} if values else {})}
    if isinstance(kind, type) and issubclass(kind, Sequence):
        return {"type": "array", **({"items": items} if arguments and (items := of(arguments[0])) else {})}
    raise TypeError(f"{shape!r} has no JSON schema")


def _words(words: Sequence[Any]) -> Schema:
    plain = [word.value if isinstance(word, Enum) else word for word in words]
    return {"enum": plain} if len(plain) > 1 else {"const": plain[0]}


def _either(schemas: Sequence[Schema]) -> Schema:
    """Return the schema of what fits one of several."""
    plain = [schema["type"] for schema in schemas if schema.keys() == {"type"}]
    words = [word for schema in schemas if schema.keys() == {"enum"} for word in schema["enum"]]
    if words and plain == ["null"]:
        plain, words = [], [*words, None]
    merged = [{"type": plain if len(plain) > 1 else plain[0]}] if plain else []
    merged += [{"enum": words}] if words else []
    merged += [schema for schema in schemas if schema.keys() not in ({"type"}, {"enum"})]
    return merged[0] if len(merged) == 1 else {"anyOf": merged}


def _is_model(shape: Any) -> bool:
    return is_typeddict(shape) or dataclasses.is_dataclass(shape) or hasattr(shape, "_fields")


def _model(model: Any, *, closed: bool) -> Schema:
    described = descriptions(model)
    hints = get_type_hints(model, include_extras=True)
    names = [field.name for field in dataclasses.fields(model)] if dataclasses.is_dataclass(model) else hints
    properties, required = {}, []
    for name in names:
        hint = hints[name]
        if get_origin(hint) is NotRequired or (is_typeddict(model) and not model.__total__):
            hint = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        else:
            required.append(name)
        if name not in described:
            raise TypeError(f"{model.__qualname__}.{name} is not described")
        properties[name] = {**schema_of(hint, closed=closed), "description": described[name]}
    needed = {"required": required} if required else {}
    return {"type": "object", **needed, "properties": properties, "additionalProperties": not closed}


def descriptions(model: type) -> dict[str, str]:
    """Return what a class says of its attributes, by name."""
    _, _, lines = cleandoc(str(model.__doc__)).partition("\nAttributes\n----------\n")
    found: dict[str, str] = {}
    for names, said in _ENTRY.findall(f"{lines}\n"):
        line = " ".join(said.split()).replace("``", "`").removesuffix(".")
        found |= dict.fromkeys(names.split(", "), line)
    return found


def document_schema(
    shape: Any, *others: Any, closed: bool, constants: Mapping[str, Any] | None = None
) -> Schema:
    """Return the schema of a document; its title is the first line of what its model says of itself.

    Parameters
    ----------
    shape : type
        As in `schema_of`.
    others : type
        Models whose fields it has as well.
    closed : bool
        As in `schema_of`.
    constants : mapping, optional
        Fields that every document has besides those of models, with their values.
    """
    inner = get_args(shape)[0] if get_origin(shape) is Annotated else shape
    title = str(inner.__doc__).splitlines()[0].removesuffix(".")
    constant = {name: {"const": value} for name, value in (constants or {}).items()}
    found = schema_of(shape, closed=closed)
    parts = [found, *(schema_of(other, closed=closed) for other in others)]
    found["required"] = [*constant, *(name for part in parts for name in part["required"])]
    found["properties"] = constant | {
        name: value for part in parts for name, value in part["properties"].items()
    }
    return {"$schema": DIALECT, "title": title, **found}


def text(schema: Schema) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=2) + "\n"


def main() -> None:
    """Write every schema."""
    from schema_documents import DOCUMENTS

    directory = Path(__file__).parents[1] / "docs" / "schemas"
    for name, schema in DOCUMENTS.items():
        (directory / f"{name}.schema.json").write_text(text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
