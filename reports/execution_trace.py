"""How one element of a result was computed: terms, alignment and roundings, as `run --trace` shows them.

Nothing here computes an instruction: its semantics, run once more by the `TracingAlgebra`, say
what was done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

import numpy as np

from ..spec.algebra import Operand
from ..spec.dot_add import aligned_terms
from ..spec.errors import InputError, UnsupportedError
from ..spec.formats import FloatFormat, Format
from ..spec.operand_arrays import Arrays, Matrix, Semantics
from ..spec.shown_text import aligned
from .notebook import heading, table
from .tracing_algebra import (
    Changed,
    Compared,
    DotAdd,
    Encoded,
    Fused,
    IntegerOperation,
    Node,
    TracingAlgebra,
    named,
)

MOST_PRODUCTS = 1 << 20
"""Products of an instruction that is traced: all of its elements are computed in Python."""


@dataclass(frozen=True)
class Step:
    """One rounding, or one sum of integers, with what went into it.

    Attributes
    ----------
    name : str
        By which later steps name its result: ``s1``, ``s2``, ….
    operation : str
        What is done.
    titles : tuple of str
        What the columns of `rows` are.
    rows : tuple of tuple of str
        Steps that do the same to one sum or product are one row each; the terms of a dot-add, or of a sum of
        integers, are a row each.
    """

    name: str
    operation: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Trace:
    """How an element of a result was computed.

    Attributes
    ----------
    instruction : str
        What was executed.
    element : str
        Which element, such as ``D[3,5]``.
    steps : tuple of Step
        In the order of execution.
    result : str
        The element: its value and its encoding.
    """

    instruction: str
    element: str
    steps: tuple[Step, ...]
    result: str

    def __str__(self) -> str:
        lines = [f"{self.element} of {self.instruction}"]
        for step in self.steps:
            lines += ["", step.operation, *aligned([step.titles, *step.rows])]
        return "\n".join([*lines, "", self.result])

    def _repr_html_(self) -> str:
        steps = (f"<p>{escape(step.operation)}</p>{table(step.titles, step.rows)}" for step in self.steps)
        title = heading(f"{self.element} of {self.instruction}")
        return f"{title}{''.join(steps)}<p><b>{escape(self.result)}</b></p>"


class Tracer:
    """Watches an execution, and traces one element of it; see `spec.operand_arrays.Observer`.

    Parameters
    ----------
    instruction : str
        What is executed, for the title.
    element : str
        Which element: ``D[3,5]``, batch axes first.

    Raises
    ------
    InputError
        If the text names no element.
    """

    def __init__(self, instruction: str, element: str) -> None:
        match = re.fullmatch(r"\s*(\w+)\s*\[([\s\d,]+)\]\s*", element)
        if match is None or not all(part.strip() for part in match[2].split(",")):
            raise InputError(f"--trace {element!r} is not an element of a result, such as D[3,5]")
        self.instruction = instruction
        self.name, self.index = match[1].lower(), tuple(int(part) for part in match[2].split(","))
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        """What was seen.

        Raises
        ------
        InputError
            If nothing was, as of a move, or of a product that takes its operands from the buffers of tiles.
        """
        if self._trace is None:
            raise InputError(
                f"--trace: {self.instruction} computes nothing from matrices: it moves data, or its operands "
                "are buffers (then leave --registers out)"
            )
        return self._trace

    def __call__(
        self,
        semantics: Semantics,
        given: Arrays,
        operands: Mapping[str, Matrix],
        results: Mapping[str, Matrix],
    ) -> None:
        """Execute the instruction once more, on numbers that remember where they come from."""
        if self.name not in results:
            raise InputError(f"--trace {self._element}: the result is {', '.join(map(_shown, results))}")
        own = results[self.name].shape
        batch = np.broadcast_shapes(
            *(given[name].shape[: given[name].ndim - each.axes] for name, each in operands.items())
        )
        shape = (*batch, *own)
        if len(self.index) != len(shape) or any(n >= size for n, size in zip(self.index, shape, strict=True)):
            raise InputError(f"--trace {self._element}: {_shown(self.name)} has the shape {shape}")
        # M·K of A, K·N of B and M·N of D: the root of their product is M·N·K, and other operands are small
        sizes = [math.prod(each.shape) for name, each in operands.items() if name in "abxy"]
        products = math.isqrt(math.prod([*sizes, math.prod(own)]))
        if products > MOST_PRODUCTS:
            raise UnsupportedError(
                f"--trace {self._element}: {products} products, of which at most {MOST_PRODUCTS} are traced"
            )
        leading = self.index[: len(batch)]
        nodes = {}
        for name, each in operands.items():
            one = np.broadcast_to(given[name], (*batch, *each.shape))[leading]
            nodes[name] = named(_shown(name), one, each.format)
        with np.errstate(all="ignore"):
            found = semantics(TracingAlgebra(), nodes)[self.name]
        node = found[self.index[len(batch) :]]
        steps = _Steps()
        last = steps.text(node)
        result = f"{self._element} = {last.expression} = {_value(node)} ({_hexadecimal(node)})"
        self._trace = Trace(self.instruction, self._element, tuple(steps.joined()), result)

    @property
    def _element(self) -> str:
        return f"{_shown(self.name)}[{','.join(map(str, self.index))}]"


def _shown(name: str) -> str:
    """Write an operand's name as manuals do: a letter is a capital."""
    return name.upper() if len(name) == 1 else name


@dataclass(frozen=True)
class _Text:
    """A number as it is computed, by names and by numbers."""

    expression: str
    numbers: str
    is_sum: bool = False

    def factor(self) -> _Text:
        return _Text(f"({self.expression})", f"({self.numbers})") if self.is_sum else self


class _Steps:
    """Writes what a number came from, step by step."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._known: dict[int, _Text] = {}

    def text(self, node: Node) -> _Text:
        """Write a number, after the steps that it takes."""
        if isinstance(node.origin, str):
            return _Text(node.origin or _value(node), _value(node))
        key = id(node.origin)
        for before in _before(node):  # deep chains: what comes first is written first
            if id(before.origin) not in self._known and not isinstance(before.origin, str):
                self._known[id(before.origin)] = self._written(before)
        if key not in self._known:
            self._known[key] = self._written(node)
        return self._known[key]

    def _written(self, node: Node) -> _Text:
        match node.origin:
            case Fused() as fused:
                return self._fused(node, fused)
            case DotAdd() as step:
                return self._dot_add(node, step)
            case Encoded(exact, how):
                return self._integers(node, exact, how)
            case Changed(before, how):
                text = self.text(before)
                return _Text(how.format(before=text.expression, value=_value(node)), _value(node))
            case Compared(left, right, same):
                sign = "=" if same else "≠"
                return _Text(
                    f"{self.text(left).expression} {sign} {self.text(right).expression}", _value(node)
                )
            case IntegerOperation(symbol, parts):
                texts = [self.text(part) for part in parts]
                texts = [text.factor() for text in texts] if symbol == "·" else texts
                joint = symbol if symbol == "·" else f" {symbol} "
                return _joined(joint, texts)
            case name:
                return _Text(name or _value(node), _value(node))

    def _product(self, factors: Sequence[Node]) -> _Text:
        texts = [self.text(factor).factor() for factor in factors]
        return _joined("·", texts)

    def _fused(self, node: Node, fused: Fused) -> _Text:
        terms = [self._product(product) for product in fused.products]
        terms += [self.text(addend) for addend in fused.addends]
        text = terms[0] if len(terms) == 1 else _joined(" + ", terms)
        values = [_product(product) for product in fused.products] + [_exact(each) for each in fused.addends]
        exact = None if None in values else sum((value for value in values if value is not None), Fraction(0))
        rounded = _exact(node)
        error = None if exact is None or rounded is None else rounded - exact
        if len(terms) == 1 and error == 0:
            return text  # a product or a conversion that loses nothing
        direction = fused.rounding.name.lower().replace("_", "-")
        row = (
            text.expression,
            text.numbers,
            _number(exact) if exact is not None else _value(node),
            _value(node),
            _hexadecimal(node),
            "" if error is None else _number(error),
        )
        return self._step(
            node,
            f"fused sums, each rounded to {node.format} ({direction})",
            ("computes", "numbers", "exact", "rounded", "encoding", "error"),
            [row],
        )

    def _dot_add(self, node: Node, step: DotAdd) -> _Text:
        model, scales = step.model, step.scales or ()
        factors = [_operand(scale) for scale in (step.left, step.right, *scales)]
        terms, addend, weight = aligned_terms(
            model, factors, Operand(_operand([step.addend]).bits[0], _float(step.addend))
        )
        count, rows = len(step.left), []
        texts = []
        for start in range(0, count, model.group):
            products = list(zip(step.left, step.right, strict=True))[start : start + model.group]
            of_scales = [self.text(scale[start * len(scale) // count]) for scale in scales]
            texts.append(_joined("·", [self._group(products), *of_scales]))
        texts.append(self.text(step.addend))
        values = [*map(float, terms.values), float(addend.values)]
        exponents = [*map(int, terms.exponents), int(addend.exponents)]
        largest = max(exponents)
        with np.errstate(all="ignore"):
            kept = [float(np.trunc(value * weight) / weight) for value in values]
        for text, value, exponent, left in zip(texts, values, exponents, kept, strict=True):
            cut = "" if not math.isfinite(value) else _number(Fraction(left) - Fraction(value))
            rows.append((text.expression, text.numbers, _real(value), str(exponent), _real(left), cut))
        finite = all(map(math.isfinite, kept))
        total = sum(map(Fraction, kept), Fraction(0)) if finite else None
        rounded = _exact(node)
        error = "" if total is None or rounded is None else _number(rounded - total)
        shown = _value(node) if total is None else _number(total)
        rows.append(("sum", "", shown, "", f"{_value(node)} ({_hexadecimal(node)})", error))
        direction = model.rounding.name.lower().replace("_", "-")
        places = "" if model.result_fraction_bits is None else f", {model.result_fraction_bits} fraction bits"
        return self._step(
            node,
            f"dot-add: terms cut to multiples of 2^({largest}-{model.fraction_bits}), where {largest} is the "
            f"largest exponent; their sum rounded to {node.format}{places} ({direction})",
            ("term", "numbers", "value", "exponent", "kept", "error"),
            rows,
        )

    def _group(self, products: Sequence[tuple[Node, Node]]) -> _Text:
        """Write neighbouring products, of which the first and the last are named, and their sum."""
        texts = [self._product(product) for product in products]
        if len(texts) == 1:
            return texts[0]
        values = [value for product in products if (value := _product(product)) is not None]
        total = _number(sum(values, Fraction(0))) if len(values) == len(products) else "nan"
        return _Text(f"({texts[0].expression} + … + {texts[-1].expression})", total)

    def _integers(self, node: Node, exact: Node, how: str) -> _Text:
        rows = []
        for term, negative in exact.terms():
            text = self.text(term)
            rows.append(
                (f"−({text.expression})" if negative else text.expression, text.numbers, str(term.value))
            )
        rows.append(("sum", "", str(exact.value)))
        rows.append((how, "", f"{_value(node)} ({_hexadecimal(node)})"))
        return self._step(node, "sum of integers, exact", ("term", "numbers", "value"), rows)

    def _step(
        self, node: Node, operation: str, titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]
    ) -> _Text:
        name = f"s{len(self.steps) + 1}"
        self.steps.append(Step(name, operation, titles, tuple(rows)))
        return _Text(name, _value(node))

    def joined(self) -> Iterator[Step]:
        """Yield the steps; neighbours of one row that do the same are one, which begins with their names."""
        waiting: list[Step] = []
        for step in [*self.steps, None]:
            if waiting and (step is None or step.operation != waiting[0].operation or "term" in step.titles):
                first = waiting[0]
                if "term" in first.titles:
                    yield Step(first.name, f"{first.name}: {first.operation}", first.titles, first.rows)
                else:
                    rows = tuple((each.name, *row) for each in waiting for row in each.rows)
                    yield Step(waiting[-1].name, first.operation, ("step", *first.titles), rows)
                waiting = []
            if step is not None:
                waiting.append(step)


def _before(node: Node) -> list[Node]:
    """Return the partial sums that a number was added to, the first of them first."""
    found = []
    while True:
        match node.origin:
            case Fused(addends=(before, *_)) | DotAdd(addend=before) | Changed(before=before):
                found.append(before)
                node = before
            case _:
                return found[::-1]


def _joined(symbol: str, texts: Sequence[_Text]) -> _Text:
    return _Text(
        symbol.join(text.expression for text in texts),
        symbol.join(text.numbers for text in texts),
        is_sum=symbol != "·",
    )


def _operand(nodes: Sequence[Node]) -> Operand:
    fmt = _float(nodes[0])
    return Operand(np.array([node.value for node in nodes], dtype=fmt.storage), fmt)


def _float(node: Node) -> FloatFormat:
    assert isinstance(node.format, FloatFormat)
    return node.format


def _exact(node: Node) -> Fraction | None:
    """Return the number that a float stands for, None for an infinity or a NaN."""
    return _float(node).exact(node.value)


def _product(factors: tuple[Node, Node]) -> Fraction | None:
    left, right = map(_exact, factors)
    return None if left is None or right is None else left * right


def _value(node: Node) -> str:
    """Write the number that an encoding stands for."""
    fmt: Format | None = node.format
    if not isinstance(fmt, FloatFormat):
        signed = fmt is not None and node.value >> (fmt.bits - 1) and getattr(fmt, "signed", False)
        return str(node.value - (1 << fmt.bits) if signed and fmt is not None else node.value)
    exact = fmt.exact(node.value)
    sign = "-" if fmt.signed and node.value & fmt.sign_mask else ""
    if exact is None:
        is_infinity = fmt.infinity is not None and node.value & ~fmt.sign_mask == fmt.infinity
        return f"{sign}inf" if is_infinity else "nan"
    return f"{sign}0" if not exact else _number(exact)


def _hexadecimal(node: Node) -> str:
    fmt = node.format
    return hex(node.value) if fmt is None else f"0x{node.value:0{(fmt.bits + 3) // 4}x}"


def _real(value: float) -> str:
    return repr(value).removesuffix(".0")


def _number(exact: Fraction) -> str:
    """Write a number: as the float64 that it is, else as an integer times a power of two."""
    try:
        if Fraction(near := float(exact)) == exact:
            return _real(near)
    except OverflowError:
        pass
    if exact.denominator == 1:
        return str(exact.numerator)
    return f"{exact.numerator}·2^-{exact.denominator.bit_length() - 1}"
