"""Checks of formulas that need no sizes: names, and the kinds of subexpressions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...spec.formats import F32, F64, FloatFormat, Format, IntegerFormat
from ..formula.index_arithmetic import unknown_name
from ..formula.tree import (
    LOGICAL,
    Binary,
    Cast,
    Choice,
    Element,
    Formula,
    Function,
    Infinite,
    Inverse,
    Lookup,
    Name,
    Node,
    Number,
    ReducedProduct,
    Reduction,
    Source,
    walk,
)
from .contract import Contract
from .parameters import Access, ArrayParameter, Parameter, ScalarParameter

_ON_DATA = ("+", "-", "*", "/")

ON_BITS = ("<<", ">>", "//", "%", "&")
"""Operators of integers by what indices, sizes and given contents decide."""


class Kinds:
    """The subexpressions of formulas that are indices, integers and real numbers.

    Parameters
    ----------
    contract : Contract
        Whose formulas they are.
    """

    def __init__(self, contract: Contract) -> None:
        self.parameters: Mapping[str, Parameter] = {
            parameter.name: parameter for parameter in contract.parameters
        }

    def format(self, name: str) -> Format:
        """Return the format of a parameter."""
        return self.parameters[name].format

    def is_concrete(self, node: Node) -> bool:
        """Tell whether a node is an integer, or a truth, that indices, sizes and given contents decide."""
        match node:
            case Number():
                return node.whole
            case Reduction() | Infinite() | Cast() | Function() | Lookup() | Binary(operator="/"):
                return False
            case Name():
                scalar = self.parameters.get(node.name)
                given = isinstance(scalar, ScalarParameter) and scalar.value is not None
                return scalar is None or (given and isinstance(scalar.format, IntegerFormat))
            case Element():
                array = self.parameters.get(node.array)
                given = isinstance(array, ArrayParameter) and array.contents is not None
                if not given or not isinstance(self.format(node.array), IntegerFormat):
                    return False
        return all(self.is_concrete(operand) for operand in node.operands)

    def is_real(self, node: Node) -> bool:
        """Tell whether a number is a real one, rather than an integer."""
        match node:
            case Number():
                return not node.whole
            case Name():
                known = node.name in self.parameters
                return known and isinstance(self.format(node.name), FloatFormat)
            case Element():
                return isinstance(self.format(node.array), FloatFormat)
            case Cast():
                return isinstance(node.format, FloatFormat)
            case Infinite() | Function() | Lookup() | ReducedProduct() | Binary(operator="/"):
                return True
            case Choice():
                return self.is_real(node.then) or self.is_real(node.otherwise)
        return any(self.is_real(operand) for operand in node.operands)

    def is_divisor(self, node: Node) -> bool:
        """Tell whether a number that divides is known, so that its reciprocal is."""
        return isinstance(node, Number) or self.is_concrete(node)

    def working_format(self, formula: Formula) -> FloatFormat:
        """Return what real numbers are computed in: f64 where one occurs, else f32."""
        formats = [self.format(formula.output)]
        for node in walk(formula.body):
            if isinstance(node, Element):
                formats.append(self.format(node.array))
            elif isinstance(node, Name) and node.name in self.parameters:
                formats.append(self.format(node.name))
            elif isinstance(node, Cast):
                formats.append(node.format)
        return F64 if F64 in formats else F32


def check_formula(contract: Contract, formula: Formula) -> None:
    """Check a formula of a contract.

    Raises
    ------
    InputError
        If a name is not known, an index is data, or an array is used against its access.
    """
    _Checker(contract, formula).check()


class _Checker:
    def __init__(self, contract: Contract, formula: Formula) -> None:
        self.kinds = Kinds(contract)
        self.formula = formula
        self.source: Source = formula.source
        parameters = self.kinds.parameters
        self.arrays = {name: p for name, p in parameters.items() if isinstance(p, ArrayParameter)}
        scalars = {name for name, p in parameters.items() if isinstance(p, ScalarParameter)}
        self.sizes = set(contract.sizes[0])
        self.constants = self.sizes | scalars
        # An index may be called like a parameter that only passes an integer: the nearer meaning counts.
        hidden = {name for name in scalars - self.sizes if self.kinds.is_concrete(Name(0, name))}
        self.taken = (self.constants - hidden) | set(self.arrays)

    def check(self) -> None:
        """Check the target, the body and the condition."""
        target = self.formula.target
        output = self._array(target)
        if not output.access.is_output:
            raise self.source.error(
                target.at, f'{target.array} is written: its access must be "out" or "inout", not "in"'
            )
        variables = target_variables(self.formula, self.sizes)
        if wrong := variables & self.taken:
            raise self.source.error(
                target.at, f"{min(wrong)} is a parameter that holds data, so it can't be an index"
            )
        known = self.constants | variables
        self.taken |= variables
        for index in target.indices:
            self._index(index, known)
        self._number(self.formula.body, known)
        if self.formula.condition is not None:
            self._index(self.formula.condition, known)
        if self.kinds.is_real(self.formula.body) and isinstance(output.format, IntegerFormat):
            raise self.source.error(
                self.formula.body.at,
                f"{target.array} is {output.format}, but this is a real number: "
                f"write {output.format}(...) or {output.format}(round(...))",
            )

    def _array(self, element: Element) -> ArrayParameter:
        if element.array not in self.arrays:
            raise unknown_name(self.source, element, self.arrays)
        array = self.arrays[element.array]
        if len(element.indices) != len(array.shape):
            raise self.source.error(
                element.at, f"{element.array} has {len(array.shape)} axes, not {len(element.indices)}"
            )
        return array

    def _index(self, node: Node, known: set[str]) -> None:
        """Check what must be decided by indices, sizes and given contents."""
        for part in walk(node):
            if isinstance(part, Name):
                self._known(part, known)
            if isinstance(part, Element):
                self._array(part)
            if not self.kinds.is_concrete(part):
                raise self.source.error(
                    part.at,
                    "only sizes, indices, integer scalars with a value and integer arrays with values decide "
                    "an index, an extent or which elements a formula covers",
                )

    def _known(self, name: Name, known: set[str]) -> None:
        if name.name in self.arrays:
            raise self.source.error(name.at, f"{name.name} is an array: give its element, {name.name}[...]")
        if name.name not in known:
            raise unknown_name(self.source, name, sorted(known))

    def _number(self, node: Node, known: set[str]) -> None:
        match node:
            case Name():
                self._known(node, known)
            case Element():
                self._element(node, known)
            case Reduction():
                names = self._summed(node, known)
                self.taken |= names
                self._number(node.body, known | names)
                self.taken -= names
            case Choice():
                self._condition(node.condition, known)
                self._number(node.then, known)
                self._number(node.otherwise, known)
            case Binary() if node.operator in _ON_DATA or self.kinds.is_concrete(node):
                self._both(node, known)
            case Binary():
                assert node.operator in ON_BITS
                self._on_bits(node, known)
            case _:
                self._both(node, known)

    def _on_bits(self, node: Binary, known: set[str]) -> None:
        """Check a shift, a quotient, a rest or a mask of integers."""
        self._number(node.left, known)
        if self.kinds.is_real(node.left):
            raise self.source.error(node.at, f"{node.operator} takes integers, but this is a real number")
        if not self.kinds.is_concrete(node.right):
            raise self.source.error(
                node.right.at,
                f"the right operand of {node.operator} must depend on indices, sizes and given contents only",
            )
        self._index(node.right, known)

    def _condition(self, node: Node, known: set[str]) -> None:
        """Check what a choice goes by: indices or data."""
        if self.kinds.is_concrete(node):
            self._index(node, known)
        elif isinstance(node, Inverse) or (isinstance(node, Binary) and node.operator in LOGICAL):
            for operand in node.operands:
                self._condition(operand, known)
        else:
            self._both(node, known)

    def _both(self, node: Node, known: set[str]) -> None:
        for operand in node.operands:
            self._number(operand, known)

    def _element(self, node: Element, known: set[str]) -> None:
        array = self._array(node)
        spelled = f"{node.array}[...]"
        if array.access is Access.SCRATCH:
            raise self.source.error(
                node.at, f'{node.array} has access "scratch"; formulas cannot use its contents'
            )
        if array.access is Access.OUT:
            raise self.source.error(
                node.at,
                f'{node.array} has access "out": its old contents are unknown; with "inout": old({spelled})',
            )
        if array.access is Access.INOUT and not node.old:
            raise self.source.error(node.at, f"{node.array} is written; its old value is old({spelled})")
        for index in node.indices:
            if self.kinds.is_concrete(index):
                self._index(index, known)
                continue
            self._number(index, known)
            if self.kinds.is_real(index):
                raise self.source.error(
                    index.at, f"an index of {node.array} must be an integer, not a real number"
                )

    def _summed(self, node: Reduction, known: set[str]) -> set[str]:
        names: set[str] = set()
        for bound in node.indices:
            if bound.name in self.taken | names:
                raise self.source.error(
                    bound.at, f"{bound.name} is already in use here; choose another name for the index"
                )
            if bound.extent is not None:
                self._index(bound.extent, known | names if bound.is_guarded else self.constants)
            elif not list(indexed_axes(node, bound.name)):
                raise self.source.error(
                    bound.at,
                    f"no array is indexed by {bound.name} itself; state its extent: {bound.name} < ...",
                )
            names.add(bound.name)
        return names


def target_variables(formula: Formula, sizes: Collection[str]) -> set[str]:
    """Return the index variables of a formula's target: names that are no sizes."""
    return {
        index.name for index in formula.target.indices if isinstance(index, Name) and index.name not in sizes
    }


def indexed_axes(node: Reduction, name: str) -> list[tuple[Element, int]]:
    """Return where in a sum or an extremum a name is itself an index: elements and their axes."""
    return [
        (part, axis)
        for part in walk(node.body)
        if isinstance(part, Element)
        for axis, index in enumerate(part.indices)
        if isinstance(index, Name) and index.name == name
    ]
