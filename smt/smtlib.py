"""SMT-LIB 2 text of Z3 assertions: one text per formula, in operators that every solver has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import z3

_SYMBOL = re.compile(r"\|[^|]*\||[?$]x\d+")
_TOKEN = re.compile(r"\|[^|]*\||[()]|[^\s()|]+")
_TO_BITS = "fp.to_ieee_bv"
_FLOATS = re.compile(r"\(_ to_fp |\bRoundingMode\b|\bFloatingPoint\b|\(fp[ .]")


def printed(assertions: Sequence[Any]) -> str:
    """Return the declarations and assertions as Z3 prints them, let-bound names numbered anew.

    Z3 names shared subterms after their addresses in its term table, which depend on everything built
    before. Renumbered in order of appearance, a formula has one text in every process, so the text can
    stand for the formula.
    """
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        name = match[0]
        return name if name[0] == "|" else names.setdefault(name, f"{name[:2]}{len(names)}")

    lines = _benchmark(assertions).splitlines()
    kept = (line for line in lines if not line.startswith((";", "(set-info", "(check-sat")))
    return _SYMBOL.sub(renamed, "\n".join(kept)) + "\n"


def _benchmark(assertions: Sequence[Any]) -> str:
    """Return Z3's text, straight from its C interface: a solver takes longer to accept the assertions."""
    *before, last = assertions or (z3.BoolVal(True),)
    terms = (z3.Ast * len(before))(*(term.as_ast() for term in before))
    context = z3.main_ctx().ref()
    text = z3.Z3_benchmark_to_smtlib_string(context, "", "", "unknown", "", len(before), terms, last.as_ast())
    return str(text)


def script(assertions: Sequence[Any]) -> str:
    """Return an SMT-LIB 2 script that ends in ``(check-sat)``, in standard operators only."""
    text = printed(assertions)
    if _TO_BITS in text:
        text = printed(without_ieee_bits(assertions))
    name = logic(text)
    if name == "QF_NIA" and _is_linear(assertions):
        name = "QF_LIA"
    return f"(set-logic {name})\n{without_unary_connectives(text)}(check-sat)\n"


def _is_linear(assertions: Sequence[Any]) -> bool:
    """Tell whether integers, without functions, are multiplied and divided by numerals only."""
    goal = z3.Goal()
    goal.add(*assertions)
    return bool(z3.Probe("is-lia")(goal))


def logic(text: str) -> str:
    """Return the name of the smallest logic that `text` needs: of bit-vectors, functions, floats, numbers."""
    declarations = text.partition("(assert")[0]
    integers = re.search(r"^\(declare-fun (\|[^|]*\||\S+) \([^)]*\) Int\)", declarations, re.MULTILINE)
    if re.search(r"^\(declare-fun (\|[^|]*\||\S+) \(\) Real\)", declarations, re.MULTILINE):
        return "QF_LIRA" if integers else "QF_NRA"
    functions = re.search(r"^\(declare-fun (\|[^|]*\||\S+) \([^)]", declarations, re.MULTILINE)
    if integers:
        return "QF_UFLIA" if functions else "QF_NIA"  # products are functions, or they are products
    floats = _FLOATS.search(text)
    return f"QF_{'UF' if functions else ''}BV{'FP' if floats else ''}"


def without_unary_connectives(text: str) -> str:
    """Replace ``(or x)`` and ``(and x)``, which Z3 prints and SMT-LIB does not allow, by ``x``."""
    opened: list[list[re.Match[str]]] = []  # the parenthesis, then what stands in it
    dropped: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        if token[0] != ")":
            if opened:
                opened[-1].append(token)
            if token[0] == "(":
                opened.append([token])
            continue
        start, *elements = opened.pop()
        if len(elements) == 2 and elements[0][0] in ("and", "or"):
            dropped += [(start.start(), elements[1].start()), token.span()]
    kept, position = [], 0
    for start_of_gap, end_of_gap in sorted(dropped):
        kept.append(text[position:start_of_gap])
        position = end_of_gap
    return "".join(kept) + text[position:]


def without_ieee_bits(assertions: Sequence[Any]) -> list[Any]:
    """Replace ``fp.to_ieee_bv``, which is Z3's own, by constants constrained to decode to its operand.

    The encoding of a NaN is left open, where Z3 picks one: what is proved is at least as strong.
    """
    applications = list(_applications(assertions, z3.Z3_OP_FPA_TO_IEEE_BV))
    encodings = [z3.BitVec(f"ieee!{i}", term.size()) for i, term in enumerate(applications)]
    definitions = [
        z3.fpBVToFP(encoding, term.arg(0).sort()) == term.arg(0)
        for encoding, term in zip(encodings, applications, strict=True)
    ]
    everything = z3.And(*definitions, *assertions)
    pairs = zip(applications, encodings, strict=True)
    return list(z3.substitute(everything, *pairs).children())


def _applications(assertions: Sequence[Any], kind: int) -> Iterator[Any]:
    """Yield the applications of an operator of Z3, each once, in an order that the formula alone fixes.

    Goes through Z3's C interface: wrapping every term in a Python object costs five times as much.
    """
    context = z3.main_ctx()
    reference = context.ref()
    seen: set[int] = set()
    pending = [assertion.as_ast() for assertion in reversed(assertions)]
    while pending:
        term = pending.pop()
        identity = z3.Z3_get_ast_id(reference, term)
        if identity in seen:
            continue
        seen.add(identity)
        if z3.Z3_get_decl_kind(reference, z3.Z3_get_app_decl(reference, term)) == kind:
            yield z3.BitVecRef(term, context)
        arguments = range(z3.Z3_get_app_num_args(reference, term))
        pending.extend(z3.Z3_get_app_arg(reference, term, i) for i in reversed(arguments))
