"""A verdict for people to read: the verdict first, then why, then what it rests on.

The command line prints these lines, and a report is written as them by ``str``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..refinement.findings.result import Verdict
from .kernel_counterexample_text import difference_text, input_lines

if TYPE_CHECKING:
    from ..refinement.findings.finding import KernelFinding
    from ..refinement.findings.result import Result
    from ..refinement.verification import Verification

SHOWN = 40
"""Groups of findings that are printed; result files have all of them."""

_LINES = 3
"""Lines of the kernel's text that a group of findings lists."""

_HOLD = (Verdict.VERIFIED, Verdict.SAFE)

STYLES = {
    Verdict.VERIFIED: "bold green",
    Verdict.SAFE: "bold green",
    Verdict.REFUTED: "bold red",
    Verdict.UNDECIDED: "bold yellow",
    Verdict.UNSUPPORTED: "bold yellow",
}
"""How verdicts look on a terminal."""


@dataclass(frozen=True)
class Line:
    """A line of text, and how it looks on a terminal."""

    text: str
    style: str = ""


def verdict_lines(found: Verification, *, explain: bool = False) -> Iterator[Line]:
    """Yield a verdict's lines.

    Parameters
    ----------
    found : Verification
        The outcome for a kernel.
    explain : bool
        Whether also to give every finding, the whole bound, the rules applied and the parts of proofs.
    """
    result = found.result
    yield Line(f"{result.verdict}{result.strength}: {subject(found)}", STYLES[result.verdict])
    yield from _findings(result.findings, explain=explain)
    yield from _counterexample(found)
    if result.verdict in _HOLD:
        for size in result.quantified:
            if size.reason:
                yield Line(f"not for every {size.name}: {size.reason}")
    yield from (Line(str(case)) for case in result.cases)
    if result.verdict in _HOLD:
        yield from map(Line, _rests_on(result, explain=explain))
    if result.verdict is Verdict.SAFE:
        yield Line("memory only: the contract has no [ensures], so results are not checked")
    elif found.examinations and not found.memory_only:
        stats = result.stats
        yield Line(
            f"{stats['outputs']} output elements, {stats['wrong']} not right; {stats['total_seconds']:.3f} s"
        )
    if explain:
        yield from map(Line, (*_rules(result), *_parts_of_proofs(result)))


def subject(found: Verification) -> str:
    """Return what a verdict says of a kernel, as a sentence to stand behind it."""
    result = found.result
    if result.verdict is Verdict.UNSUPPORTED:
        return f"{result.kernel} does something that is not modelled"
    names = ", ".join(dict.fromkeys(output.name for output in result.outputs))
    if found.memory_only:
        verb, what = "use", f"memory as {result.contract} allows"
    elif result.against is not None:
        verb, what = (
            "compute",
            f"{names} as {result.against} does" if names else f"what {result.against} does",
        )
    else:
        verb, what = "compute", f"{names or 'what'} {'as ' if names else ''}{result.contract} says"
    if result.verdict in _HOLD:
        return f"{result.kernel} {verb}s {what}"
    if result.verdict is Verdict.REFUTED:
        return f"{result.kernel} does not {verb} {what}"
    return f"it is not shown that {result.kernel} {verb}s {what}"


def _findings(findings: Sequence[KernelFinding], *, explain: bool) -> Iterator[Line]:
    """Yield findings, those of one kind and one line of the source together."""
    groups: dict[tuple[object, ...], list[KernelFinding]] = {}
    for finding in findings:
        place = finding.source or (finding.file, finding.line)
        alone = id(finding) if explain or not (finding.line or finding.source) else 0
        groups.setdefault((finding.kind, place, alone), []).append(finding)
    shown = list(groups.values())
    for first, *others in shown if explain else shown[:SHOWN]:
        yield Line(f"{first}{_others(first, others)}", "red" if first.kind.refutes else "")
    if not explain and len(shown) > SHOWN:
        rest = sum(map(len, shown[SHOWN:]))
        yield Line(f"{rest} more findings; --explain prints all of them")


def _others(first: KernelFinding, others: Sequence[KernelFinding]) -> str:
    """Return how many more findings of a kind a line has, and in which lines of the kernel's text."""
    if not others:
        return ""
    lines = [str(line) for line in dict.fromkeys(other.line for other in others) if line != first.line]
    listed = ", ".join(lines[:_LINES]) + (", …" if len(lines) > _LINES else "")
    where = f" ({first.file}:{listed})" if lines else ""
    return f"; {len(others)} more of this kind on this line{where}"


def _counterexample(found: Verification) -> Iterator[Line]:
    counterexample, result = found.counterexample, found.result
    if counterexample is None:
        return
    difference = counterexample.difference
    at = ", ".join(f"{name} = {size}" for name, size in counterexample.sizes.items())
    reference = result.against or result.contract
    values = difference_text(
        difference.output, result.kernel, difference.kernel, reference, difference.contract
    )
    saved = f" (saved in {result.counterexample})" if result.counterexample else ""
    yield Line(f"{values}, on these inputs{f' at {at}' if at else ''}{saved}:")
    for line in input_lines(counterexample.inputs):
        yield Line(f"  {line}")


def _rests_on(result: Result, *, explain: bool) -> Iterator[str]:
    """Yield how much a verdict covers, and what it takes for granted."""
    yield from map(str, (*result.outputs, *result.written))
    yield result.claim
    yield from result.accuracy
    if result.bound is not None:
        head, _, rest = result.bound.partition("; ")
        yield result.bound if explain or not rest else f"{head}; --explain lists the roundings"
    if result.assumptions:
        yield f"assumed: {'; '.join(result.assumptions)}"
    outputs, of_proofs = (result.stats.get(name, {}) for name in ("checker", "checker_of_proofs"))
    yield from _not_evaluated(outputs, result.stats["outputs"], "elements")
    yield from _not_evaluated(of_proofs, of_proofs.get("elements", 0), "equalities of proofs for every size")
    for note in result.notes:
        yield f"note: {note}"


def _not_evaluated(checker: Mapping[str, Any], every: int, what: str) -> Iterator[str]:
    """Yield what the checker could not evaluate again, if there is any."""
    if checker.get("open"):
        reasons = "; ".join(f"{each['elements']:,}: {each['reason']}" for each in checker["open"])
        count = sum(each["elements"] for each in checker["open"])
        yield f"not evaluated again: {count:,} of {every:,} {what} ({reasons})"


def _rules(result: Result) -> Iterator[str]:
    """Yield the rules by instances of which both sides of outputs are equal."""
    from ..refinement.rules.rows import BY_NAME

    for name, count in result.stats.get("rows", {}).items():
        rule = BY_NAME[name]
        condition = f" if {rule.condition}" if rule.condition else ""
        yield f"used {count:,} times, {name}: {rule.left} = {rule.right}{condition}"


def _parts_of_proofs(result: Result) -> Iterator[str]:
    """Yield the parts of proofs for every number of a size, and the sizes that were verified one by one."""
    obligations = result.stats.get("obligations", ())
    if not obligations:
        yield "no proof for every size: only the listed sizes are verified"
    for part in obligations:
        place = f"{result.kernel}:{part['line']}"
        place = f"{part['source']} ({place})" if part["source"] else place
        at = ", ".join(f"{name} = {number}" for name, number in part["sizes"].items())
        named = f"{part['obligation']}{f' at {at}' if at else ''}"
        yield f"proved in {part['seconds']:.3f} s, {named}: {part['statement']} ({place})"
    for sizes in result.stats.get("sizes", ()):
        listed = ", ".join(f"{name} = {number}" for name, number in sizes.items())
        yield f"verified separately: {listed or 'the only sizes'}"
