"""Reports as JSON."""

from __future__ import annotations

import json
from typing import Any

from .report import Report


def render(report: Report) -> str:
    """Return the text of the JSON report."""
    document = report.document()
    return (json.dumps(document, indent=1) if report.indented else spread(document, 2)) + "\n"


def spread(value: Any, depth: int) -> str:
    """Return JSON with the members of the outermost ``depth`` levels on lines of their own.

    The standard library writes indented text with Python code, which takes many times as long.
    """
    if depth and isinstance(value, dict) and value:
        members = (f"{json.dumps(name)}: {spread(member, depth - 1)}" for name, member in value.items())
        return "{\n" + ",\n".join(members) + "\n}"
    if depth and isinstance(value, list) and value:
        return "[\n" + ",\n".join(spread(member, depth - 1) for member in value) + "\n]"
    return json.dumps(value)
