"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from .counterexample_text import counterexample_text
from .report import Judgement, Report


def render(report: Report) -> str:
    """Return the text of the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__, package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("check.html.j2")
    return (
        page.render(report=report, judgements=list(Judgement), counterexample_text=counterexample_text) + "\n"
    )
