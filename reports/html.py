"""Reports as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..spec.findings import Finding

if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN = 1000
"""Findings that a page shows; the other formats have all of them."""

_CONTEXT = 2
"""Lines shown before and after a finding's."""

_LONGEST = 300
"""Characters of such a line."""


class Page(Protocol):
    """What a page shows."""

    @property
    def template(self) -> str:
        """The name of its template."""

    @property
    def findings(self) -> Iterator[Finding]:
        """What was found, in its order."""


@cache
def environment() -> Environment:
    """Return the templates of all pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(__package__, package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(report: Page) -> str:
    """Return the text of the page."""
    page = environment().get_template(report.template)
    return page.render(report=report, findings=list(report.findings), shown=SHOWN, excerpt=_excerpts()) + "\n"


def _excerpts() -> Callable[[Finding], list[tuple[int, str]]]:
    """Return a function to the numbered lines around a finding; it reads each file once."""

    @cache
    def lines(file: str) -> Sequence[str]:
        try:
            return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
        except (OSError, ValueError):  # gone by now, or no name of a file
            return ()

    def excerpt(finding: Finding) -> list[tuple[int, str]]:
        if finding.file in ("", "-") or not finding.line:
            return []
        start = max(1, finding.line - _CONTEXT)
        near = lines(finding.file)[start - 1 : finding.line + _CONTEXT]
        return [(start + number, text[:_LONGEST]) for number, text in enumerate(near)]

    return excerpt
