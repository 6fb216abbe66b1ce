"""JSON from outside, as strict as its standard."""

from __future__ import annotations

import json
import math
from typing import Any

from .errors import InputError


class _NotJsonError(ValueError):
    """What Python's decoder takes, and JSON does not, or no float can hold."""


def read_json(text: str, where: str | None = None) -> Any:
    """Read a JSON document.

    Raises
    ------
    InputError
        If it is not JSON, names a key twice, has ``NaN``, ``Infinity``, a number too large for a float or too
        long for an integer, or is nested too deeply.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as reason:
        place = where if where is None else f"{where}:{reason.lineno}"
        raise InputError(f"not JSON: {reason.msg} in column {reason.colno}", place) from None
    except RecursionError:
        raise InputError("not JSON that can be read: it is nested too deeply", where) from None
    except ValueError as reason:
        raise InputError(f"not JSON: {reason}", where) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _NotJsonError(f"the key {twice!r} stands there twice")
    return found


def _constant(text: str) -> Any:
    raise _NotJsonError(f"{text} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NotJsonError(f"{text} is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
