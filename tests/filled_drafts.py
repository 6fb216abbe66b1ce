"""Drafts of contracts, completed from a contract that a person wrote, where a draft leaves a place for it.

What a draft says is kept, right or wrong, so that a verdict about a completed draft is a test of the draft.
Parameters are matched in order, fields of structures by their offsets.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import pack, unpack
from typing import Any

from mmaproof.refinement.drafts.contracts import FILL_IN
from mmaproof.spec.formats import FORMATS

Table = dict[str, Any]

_KEY = re.compile(r"(?:# )?(\w+) = .*")
_HEADER = re.compile(r"\[+([\w.]+)\]+")
_OPEN = "open"
"""The key of a draft's table under which the names of its places stand."""


@dataclass(frozen=True)
class Completed:
    """A draft, completed.

    Attributes
    ----------
    text : str
        The contract.
    types : tuple of str
        Names of arrays of which a person had to say the elements' type.
    """

    text: str
    types: tuple[str, ...]

    @property
    def memory(self) -> str:
        """The contract without what the kernel computes."""
        return self.text.partition("[ensures]")[0]


def completed(drafts: Sequence[str], whole: Table) -> Completed:
    """Return the drafts, one for each launch, completed from a contract."""
    types: list[str] = []
    found: Table = {"kernel": {}, "launch": []}
    launches = whole.get("launch", {})
    launches = launches if isinstance(launches, list) else [launches]
    by_name = {each["name"]: each for each in whole["param"]}
    parameters: dict[str, Table] = {}
    arrays = {each["name"]: each for each in whole.get("array", [])}
    for text, launch in zip(drafts, launches, strict=True):
        draft = _with_places(text)
        kernel = _filled(draft["kernel"], whole["kernel"])
        passed = [by_name[name] for name in launch.get("params", by_name)]
        for mine, theirs in zip(draft.get("param", []), passed, strict=True):
            shared = {"access": theirs["access"]} if len(drafts) > 1 and "access" in theirs else {}
            parameters.setdefault(theirs["name"], _parameter(mine, theirs, types) | shared)
            behind = [each for each in draft.get("array", []) if each["name"] in mine.get("to", [])]
            for name in theirs.get("to", []) if behind else []:
                arrays[name] = _parameter(behind[0], arrays[name], types)
        found["kernel"] = kernel
        if "launch" in draft:
            own = {"entry": kernel["entry"], "params": [each["name"] for each in passed]}
            found["launch"].append(_filled(draft["launch"], launch) | (own if len(drafts) > 1 else {}))
    if len(drafts) > 1:
        del found["kernel"]["entry"]
    else:
        found["launch"] = (found["launch"] or [{}])[0]
    found |= {key: whole[key] for key in ("sizes", "buffer") if key in whole}
    found |= {"param": list(parameters.values()), "array": list(arrays.values()), "ensures": whole["ensures"]}
    return Completed("\n".join(_written(found)), tuple(types))


def _with_places(text: str) -> Table:
    """Return a draft's tables, each with the keys that are left open in it."""
    document: Table = tomllib.loads(text)
    table: Table = {}
    seen: Counter[str] = Counter()
    for line in text.splitlines():
        if header := _HEADER.fullmatch(line):
            *outer, last = header[1].split(".")
            table = document
            for depth, name in enumerate(outer):
                table = table[name][seen[".".join(outer[: depth + 1])] - 1]
            inner = table[last]
            table = inner if isinstance(inner, dict) else inner[seen[header[1]]]
            seen = Counter(
                {name: count for name, count in seen.items() if not name.startswith(f"{header[1]}.")}
            )
            seen[header[1]] += 1
        elif FILL_IN in line and (key := _KEY.match(line)):
            table.setdefault(_OPEN, []).append(key[1])
    return document


def _filled(mine: Table, theirs: Table) -> Table:
    """Return a table with what another has put in its places."""
    places = mine.get(_OPEN, [])
    kept = {key: value for key, value in mine.items() if key != _OPEN}
    return kept | {key: theirs[key] for key in places if key in theirs}


_WITH_SHAPE = ("strides", "element_bits", "low_bit", "gaps", "within", "at")
"""Keys that say, with the extents, where elements lie."""


def _parameter(mine: Table, theirs: Table, types: list[str]) -> Table:
    if "fields" in mine:
        known = dict(_flat(theirs.get("fields", []), 0))
        fields = [_parameter(each, _at(known, each), types) for each in mine["fields"]]
        return {"name": theirs["name"], "size": mine["size"], "fields": fields}
    places = mine.setdefault(_OPEN, [])
    if "shape" in places and "shape" not in mine and "shape" in theirs:
        return theirs
    if "value" in places and "value" not in mine and "shape" not in theirs and "to" not in theirs:
        kept = {key: mine[key] for key in ("name", "offset") if key in mine}
        return kept | {"name": theirs["name"], "type": "u64", "value": theirs["value"]}
    found = _filled(mine, theirs) | {"name": theirs["name"]}
    if "shape" in places:
        found |= {key: theirs[key] for key in _WITH_SHAPE if key in theirs}
    if "type" in places and _kind(found["type"]) != _kind(mine["type"]):
        types.append(theirs["name"])
    return found


def _kind(name: str) -> tuple[type, int]:
    """Return what matters of a type: integers are of one kind, whatever their signs."""
    return type(FORMATS[name]), FORMATS[name].bits


def _flat(fields: Sequence[Table], start: int) -> Iterator[tuple[int, Table]]:
    """Yield the fields of a structure that have none themselves, with their offsets in all."""
    for field in fields:
        at = start + field["offset"]
        if "fields" in field:
            yield from _flat(field["fields"], at)
        else:
            yield at, field


def _at(known: Mapping[int, Table], field: Table) -> Table:
    """Return what is known of a field of a draft, which may be several words together."""
    at = field["offset"]
    theirs = known[at]
    wide = "shape" in field or field["type"] == "pointer" or FORMATS[field["type"]].bits == 64
    if wide and "shape" not in theirs and FORMATS[theirs["type"]].bits == 32:
        low, high = (known[each]["value"] for each in (at, at + 4))
        return {"name": f"at{at}", "type": "u64", "value": low + (high << 32) - (high >> 31 << 64)}
    if "value" in theirs and field["type"] == "f32" and theirs["type"] == "u32":
        (number,) = unpack("<f", pack("<I", theirs["value"]))
        return theirs | {"value": number}
    if "value" in theirs and isinstance(theirs["value"], int) and field["type"].startswith("s"):
        bits = FORMATS[field["type"]].bits
        return theirs | {"value": (theirs["value"] + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)}
    return theirs


def _written(document: Table) -> Iterator[str]:
    """Yield the lines of a document: its tables, and those in lists."""
    for key, value in document.items():
        for table in value if isinstance(value, list) else [value]:
            yield f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
            yield from (f"{name} = {_value(each)}" for name, each in table.items())
            yield ""


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)
