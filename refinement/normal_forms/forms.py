"""Normal forms of readings that are no sum of products: equal ones are the same atom.

A function of one small input element is its table of values; any other operation is applied to the
polynomials of its arguments. Two atoms may differ and still be equal: then nothing is decided.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.operand_arrays import blocks
from ..analysis.literal_constants import LOG2_OF_10
from ..analysis.overflow import Overflows
from ..terms import operations
from ..terms.interning import Ids
from ..terms.nested_operations import NestedOperations
from ..terms.store import INPUT, NORMAL_FORM, Operation, TermStore, is_raw
from ..terms.traversal import by_operation
from .aligned_dot_products import FactoredProducts
from .bit_products import BitProducts
from .common_denominators import CommonDenominators
from .condition_forms import ConditionForms
from .element_functions import ElementFunctions
from .elementary_forms import POLES, ElementaryForms, is_elementary, stem
from .exponent_bits import ExponentBits
from .extrema import Extrema
from .extremal_terms import ExtremalTerms
from .function_symmetries import FunctionSymmetries
from .functions.libm_idioms import SoftwareFunctions
from .identities import IdleOperations
from .integer_choices import ChoicesOfSums, ExclusiveChoices
from .monomial_reduction import MonomialReduction
from .opaque_forms import OpaqueForms, atom_numbers
from .polynomial_numbers import PolynomialNumbers
from .polynomials import ABSENT, Expander, ExpansionError, Polynomials, Rows, combined, concatenated, joined
from .product_chains import Chain, unrolled
from .reading_words import Piece, Pieces, Quantities, gathered
from .readings import Quantifier
from .sparse_polynomials import sparse
from .sum_atoms import Expanded, Groups, SumAtoms

_FACTORS = 1 << 21
"""Factors, or vectors of them, of a side that are compared at a time."""

_EXPANDED = 1 << 21
"""Products of a side that are expanded at a time."""

_AT_A_TIME = 1 << 16
"""Polynomials that are made at a time."""

_ANY = (-1, 1)
"""A range of numbers of both signs."""

_LITERALS = "log2(e) and ln(2) as literals"
_LITERALS_OF_10 = "log2(10) as literals"
_MASK = "{} for -∞ as a mask, which no masked value outweighs,"

_UNKNOWN = -1
_ZERO = 0
"""The number of the polynomial 0; those of other polynomials are odd, those of long sums even."""


_MANY_EXTREMA = 4
"""Of extrema that are nested, from which on terms are slow to compare; a number that is clamped has two."""


class NormalForms:
    """Normal forms of terms with any operations.

    Parameters
    ----------
    store : TermStore
        The terms.
    expanded : Expanded
        Which sums are expanded. Others of many products are atoms, the same where the products are; that
        is seen in a fraction of the time, and sums inside of products and functions need not be multiplied.
    quantifier : Quantifier, optional
        Of the store.
    masked : bool
        Whether powers of two in whose exponents a mask is subtracted are taken for 0.

    Attributes
    ----------
    extrema : Extrema
        Of what atoms are the greatest or the least.
    poles : set of int
        Terms that are 0 for all inputs, and of which there is a reciprocal or a logarithm.
    needs_fractions : bool
        Whether something is equal only if floats are the simple fractions that they are next to.
    splits_orders : bool
        Whether terms are compared under each order of numbers too, none of which is a NaN.
    """

    def __init__(
        self,
        store: TermStore,
        *,
        expanded: Expanded = Expanded.NONE,
        quantifier: Quantifier | None = None,
        masked: bool = False,
    ) -> None:
        self.store = store
        self._expanded, self._masked = expanded, masked
        self.quantifier = quantifier or Quantifier(store)
        self.overflows = Overflows(store, self.quantifier.magnitudes)
        self._functions = ElementFunctions(self.quantifier)
        self._of_bits, self._exclusive = BitProducts(self.quantifier), ExclusiveChoices(self.quantifier)
        self._one_sided = ChoicesOfSums(self.quantifier)
        self._symmetries = FunctionSymmetries(
            self.quantifier, self.polynomials, lambda polynomial: self.extrema.is_sum(polynomial.items())
        )
        self._products = FactoredProducts(self.quantifier, self._identify)
        self._sums = SumAtoms(self.quantifier, self._products, expanded, self._functions.of_integers)
        self._expander = Expander(self.quantifier, self._normalise, self._is_whole)
        self._polynomials = PolynomialNumbers()
        self._idle = IdleOperations(self.quantifier, self.identifiers)
        self.software = SoftwareFunctions(store)
        self._bits = ExponentBits(store, self.overflows.ranges, self.quantifier.coarse)
        self.elementary = ElementaryForms(self.quantifier)
        self.extrema = Extrema(self.quantifier, self._is_not_negative)
        self.elementary.magnitude = self.extrema.magnitude
        self._reduction = MonomialReduction(self.quantifier, self.elementary, self.extrema.magnitudes)
        self._quotients = CommonDenominators(self.quantifier, self.elementary, self._reduction)
        self._condition_numbers: dict[Hashable, int] = {}
        self._known: dict[Format, NDArray[np.int32]] = {}
        self._too_many: dict[tuple[Format, bool, bytes], ExpansionError] = {}
        self.poles = set[int]()
        self.needs_masks = False
        self.needs_fractions = False
        self.splits_orders = True
        self._expanded_functions: dict[int, Pieces] = {}

    @cached_property
    def thorough(self) -> NormalForms:
        """The same, with every sum expanded."""
        return self._with(Expanded.ALL)

    @cached_property
    def outer(self) -> NormalForms:
        """The same, with the sums expanded that have functions in them, and tanh as of powers of two."""
        return self._with(Expanded.OF_FUNCTIONS)

    @cached_property
    def masked(self) -> NormalForms:
        """As `outer`, with finite masks (-1e6 for -∞) that are as good as infinite ones."""
        return self._with(Expanded.OF_FUNCTIONS, masked=True)

    @cached_property
    def of_fractions(self) -> NormalForms:
        """The same, with floats as the simple fractions that they are next to."""
        found = NormalForms(self.store, quantifier=Quantifier(self.store, fractions=True))
        found.poles = self.poles
        return found

    def unequal_unmasked(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.int64]:
        """Return what `unequal` does where finite masks are as good as infinite ones.

        Raises
        ------
        ExpansionError, OutweighedMaskError
            If there are too many products, or what outweighs a mask.
        """
        if not self.elementary.sees_masks:
            return np.arange(len(left), dtype=np.int64)
        found = self.masked.unequal(left, right, fmt)
        self.needs_masks |= len(found) < len(left)
        return found

    @cached_property
    def _extremal(self) -> ExtremalTerms:
        """Of the same quantities, with sums expanded as here."""
        return ExtremalTerms(
            self.quantifier, self.extrema, self.polynomials, self.difference, self.identifiers
        )

    @cached_property
    def _nested_extrema(self) -> NestedOperations:
        return NestedOperations(self.store, operations.EXTREMUM, _MANY_EXTREMA)

    @property
    def element_functions(self) -> ElementFunctions:
        """What is a function of one small element."""
        return self._functions

    @cached_property
    def conditions(self) -> ConditionForms:
        """The normal forms of what is chosen by."""
        return ConditionForms(
            self.quantifier, self.difference, self.identifiers, self._functions, self._condition_numbers
        )

    @cached_property
    def _opaque(self) -> OpaqueForms:
        return OpaqueForms(self.store, self.identifiers, self.conditions)

    def _is_not_negative(self, atom: int) -> bool:
        """Tell whether an atom is not negative, whatever the data: an exponential, an unsigned number."""
        if self.elementary.is_not_negative(atom):
            return True
        term = int(self.quantifier.terms(np.array([atom], dtype=np.int64))[0])
        fmt = self.quantifier.format(atom)
        if (
            self.store.operation(term).name != INPUT
            or is_raw(fmt)
            or fmt != self.store.operation(term).result
        ):
            return False
        assert isinstance(fmt, FloatFormat | IntegerFormat)
        if not fmt.signed or self.store.bounded.get(term, _ANY)[0] >= 0:
            return True
        ends = self.store.ends.get(str(self.store.operation(term).attribute))
        return ends is not None and bool(ends.low[self.store.arguments(term)[0]] >= 0)

    def _with(self, expanded: Expanded, *, masked: bool = False) -> NormalForms:
        """Return other forms of the same quantities and the same numbers of polynomials."""
        found = NormalForms(self.store, expanded=expanded, quantifier=self.quantifier, masked=masked)
        found._polynomials, found.extrema = self._polynomials, self.extrema
        found._condition_numbers = self._condition_numbers
        found.elementary, found._reduction = self.elementary, self._reduction
        found.poles = self.poles
        found._quotients, found.software, found._bits = self._quotients, self.software, self._bits
        return found

    @property
    def masks(self) -> tuple[float, ...]:
        """The finite numbers that have been taken for -∞, as nothing is to outweigh them."""
        return tuple(sorted(map(float, self.elementary.masks), reverse=True)) if self.needs_masks else ()

    @property
    def uncounted(self) -> tuple[str, ...]:
        """What has been taken for another number or function, so that its error is in no bound."""
        literals = (_LITERALS,) if self.quantifier.takes_literals_for_numbers else ()
        if len(self.quantifier.literals.get(LOG2_OF_10, ())) > 1:
            literals = (*literals, _LITERALS_OF_10)
        if self.needs_fractions:
            stands_for = sorted(self.of_fractions.quantifier.stands_for)
            literals = (*literals, *stands_for, *self.of_fractions.uncounted)
        taken = (_MASK.format(f"{mask:g}") for mask in self.masks)
        return tuple(dict.fromkeys((*literals, *taken, *self.software.recognised)))

    def are_slow(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms (n,) depend on functions of real numbers, or on extrema of many."""
        return self._sums.have_functions(terms) | self._nested_extrema.are_many(terms)

    def difference(self, left: Ids, right: Ids, fmt: Format) -> Polynomials:
        """Return the polynomials of ``left - right``, terms (n,) read in a format; owners are indices.

        Raises
        ------
        ExpansionError
            If there are too many products.
        """
        owners = np.arange(len(left))
        positive, negative = (self.quantifier.read(terms, fmt) for terms in (left, right))
        found = []
        for chunk in self._chunks(positive, negative):
            parts = list(self._apart(positive[chunk], negative[chunk], owners[chunk]))
            found.append(combined(self._reduction.reduced(concatenated(parts)), _modulus(fmt)))
        return joined(found)

    def _chunks(self, *sides: Quantities) -> Iterator[slice]:
        """Yield slices of so many quantities that their factors are held in memory easily."""
        firsts = [chain for side in sides for _, chain in self._unrolled(side[:1])]
        columns = max((chain.left.shape[1] for chain in firsts), default=0)
        length = _FACTORS // max(1, columns)
        if self._expanded is not Expanded.NONE:
            length = min(length, _EXPANDED // max([1, *(chain.products for chain in firsts)]))
        yield from blocks(len(sides[0]), min(length, _AT_A_TIME))

    def _unrolled(self, quantities: Quantities) -> list[tuple[NDArray[np.intp], Chain]]:
        return unrolled(self.quantifier, quantities, self._functions.of_integers)

    def _apart(self, positive: Quantities, negative: Quantities, owners: NDArray[np.intp]) -> Iterator[Rows]:
        """Yield the rows of a difference, without the products that both sides add."""
        for (members, one), (others, other) in product(self._unrolled(positive), self._unrolled(negative)):
            common, here, there = np.intersect1d(members, others, return_indices=True)
            apart = np.arange(len(common))
            for left, right in self._sums.with_addends(one.at(here), other.at(there), positive):
                same = self._products.same(left.at(apart), right.at(apart))
                for chain, sign in ((left, 1), (right, -1)):
                    for rest in chain.rest:
                        yield self._expander.expand(rest[apart[same]], owners[common[apart[same]]], sign)
                apart = apart[~same]
            for quantities, sign in ((positive, 1), (negative, -1)) if len(apart) else ():
                yield self._expander.expand(quantities[common[apart]], owners[common[apart]], sign)

    def _identify(self, quantities: Quantities) -> NDArray[np.int32]:
        numbers = np.empty(len(quantities), dtype=np.int32)
        formats = quantities >> np.int64(32)
        for number in np.unique(formats):
            members = formats == number
            fmt = self.quantifier.formats[number]
            numbers[members] = self.identifiers(self.quantifier.terms(quantities[members]), fmt)
        return numbers

    def unequal(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.int64]:
        """Return which terms (n,) are not shown equal: not even with quotients compared crosswise.

        Raises
        ------
        ExpansionError
            If there are too many products.
        """
        found = self.difference(left, right, fmt)
        differing = np.unique(found.owners)
        return np.setdiff1d(differing, self._quotients.vanish(found), assume_unique=True)

    def polynomials(self, terms: Ids, fmt: Format) -> Polynomials:
        """Return the polynomials of terms (n,) read in a format."""
        rows = self._expander.expand(self.quantifier.read(terms, fmt), np.arange(len(terms)))
        return combined(self._reduction.reduced(rows), _modulus(fmt))

    def compared(
        self, left: Ids, right: Ids, fmt: Format, *, thorough: bool = True
    ) -> tuple[Polynomials, Polynomials]:
        """Return the polynomials of two sides, if `thorough` and not too many, with every sum expanded."""
        if thorough:
            with suppress(ExpansionError):
                return self.thorough.polynomials(left, fmt), self.thorough.polynomials(right, fmt)
        return self.polynomials(left, fmt), self.polynomials(right, fmt)

    def certain(self, found: Polynomials) -> NDArray[np.int64]:
        """Return the owners whose differences would be the same if they had been made thoroughly."""
        if self._expanded is Expanded.ALL:
            return np.unique(found.owners)
        normal = self.store.named(NORMAL_FORM)
        numbers = self.store.operation_numbers(self.quantifier.terms(np.maximum(found.atoms, 0)))
        opaque = (normal[numbers] & (found.atoms != ABSENT)).any(axis=1)
        return np.setdiff1d(found.owners, found.owners[opaque])

    def identifiers(self, terms: Ids, fmt: Format) -> NDArray[np.int32]:
        """Return numbers that are equal only for equal polynomials (in one kind of format)."""
        known = self._known.get(fmt)
        if known is None or len(known) < len(self.store):
            grown = np.full(2 * len(self.store), _UNKNOWN, dtype=np.int32)
            if known is not None:
                grown[: len(known)] = known
            known = self._known[fmt] = grown
        missing = np.unique(terms[known[terms] == _UNKNOWN])
        if len(missing):
            failure = fmt, self.quantifier.is_patient, missing.tobytes()
            if failure in self._too_many:  # outer sums are tried in several ways, each of which comes here
                raise self._too_many[failure]
            try:
                self._known[fmt][missing] = self._identified(missing, fmt)
            except ExpansionError as error:
                self._too_many[failure] = error.with_traceback(None)
                raise
        return self._known[fmt][terms]

    def _identified(self, terms: Ids, fmt: Format) -> NDArray[np.int32]:
        quantities = self.quantifier.read(terms, fmt)
        atomic = self.quantifier.atomic_kinds()[self.quantifier.kinds(quantities)]
        numbers = np.where(atomic, atom_numbers(terms), _UNKNOWN).astype(np.int32)
        others = np.flatnonzero(~atomic)
        kind = fmt.bits if is_raw(fmt) else None
        for block in blocks(len(others), _AT_A_TIME):
            members = others[block]
            found = self.polynomials(terms[members], fmt)
            numbers[members] = self._of_polynomials(kind, found, len(members))
        return numbers

    def _of_polynomials(self, kind: int | None, found: Polynomials, count: int) -> NDArray[np.int32]:
        numbers = 2 * self._polynomials.numbers(-1 if kind is None else kind, found, count) + 1
        lengths = np.bincount(found.owners, minlength=count)
        numbers[lengths == 0] = _ZERO
        degrees = (found.atoms != ABSENT).sum(axis=1)
        single = degrees == 1
        single &= (lengths[found.owners] == 1) & (found.coefficients == 1)
        alone = np.flatnonzero(single)
        alone = alone[self._natural(found.atoms[alone].max(axis=1, initial=0))]
        atoms = self.quantifier.terms(found.atoms[alone].max(axis=1, initial=0))
        numbers[found.owners[alone]] = atom_numbers(atoms)
        return numbers

    def _natural(self, atoms: Quantities) -> NDArray[np.bool_]:
        """Tell which atoms are terms read in their own format, so that the term alone identifies it."""
        kinds, which = np.unique(self.quantifier.kinds(atoms), return_inverse=True)
        natural = [self.quantifier.is_natural(int(kind)) for kind in kinds]
        return np.array(natural, dtype=bool)[which]

    def _is_whole(self, quantities: Quantities) -> bool:
        """Tell whether some quantities of one kind may have a normal form although they split."""
        if self._sums.may_be(quantities) or bool(self._functions.of_integers(quantities).any()):
            return True
        return bool((self._products_written_out(quantities) >= 0).any())

    def written_out(self, terms: Ids, fmt: Format) -> Ids:
        """Return the functions that terms (n,) of one operation are, read in a format; -1 of others."""
        return self.software.beside_powers(terms, fmt, self._bits.equal)

    def _products_written_out(self, quantities: Quantities) -> Ids:
        """Return the functions that quantities (n,) of one kind are if they are products; else -1."""
        terms, fmt = self.quantifier.terms(quantities), self.quantifier.format(int(quantities[0]))
        if not self.software.scaled_by_bits(terms, fmt).any():
            return np.full(len(terms), ABSENT, dtype=np.int32)
        return self.written_out(terms, fmt)

    # -- what does not split
    def _normalise(self, quantities: Quantities) -> Groups:
        written = self._products_written_out(quantities)
        if (written >= 0).any():
            members, others = np.flatnonzero(written >= 0), np.flatnonzero(written < 0)
            fmt = self.quantifier.format(int(quantities[0]))
            found: Groups = [(members, [Piece(1, (self.quantifier.read(written[members], fmt),))])]
            return found + self._split(others, quantities) if len(others) else found
        alone, sums = self._functions.of_integers(quantities), self._sums.may_be(quantities)
        if not alone.any():
            return self._sums.of(quantities, self._unsplit) if sums else self._unsplit(quantities)
        members, others = np.flatnonzero(alone), np.flatnonzero(~alone)
        terms, fmt = self.quantifier.terms(quantities), self.quantifier.format(int(quantities[0]))
        found = self._functions.expanded(members, terms, self._functions.leaves(terms), fmt)
        if len(others):
            found += self._placed(others, quantities) if sums else self._split(others, quantities)
        return found

    def _unsplit(self, quantities: Quantities) -> Groups:
        terms, fmt = self.quantifier.terms(quantities), self.quantifier.format(int(quantities[0]))
        improper = self.quantifier.improper(quantities)
        if improper.any() and not improper.all():
            return [
                *self._split(np.flatnonzero(~improper), quantities),
                *self._placed(np.flatnonzero(improper), quantities),
            ]
        found: Groups = []
        same = self._idle.equal(terms, fmt)
        written = np.maximum(self.written_out(terms, fmt), self._bits.equal(terms, fmt))
        same = np.where((same == ABSENT) & (written >= 0), self.quantifier.read(written, fmt), same)
        settled = same != ABSENT
        if settled.any():
            found.append((np.flatnonzero(settled), [Piece(1, (same[settled],))]))
        leaves = np.where(settled, -1, self._functions.leaves(terms))
        of_leaf = np.flatnonzero(leaves >= 0)
        if len(of_leaf):
            found += self._functions.expanded(of_leaf, terms, leaves, fmt)
        others = np.flatnonzero((leaves < 0) & ~settled)
        first = self._idle, self._symmetries, self._of_bits
        rewritings = *first, self._exclusive, self._one_sided, self._extremal
        for expanded in (rewriting.expanded for rewriting in rewritings):
            groups = expanded(terms[others], fmt) if len(others) else []
            found += [(others[at], each) for at, each in groups]
            others = np.delete(others, [place for at, _ in groups for place in at.tolist()])
        if len(others):
            ((operation, members),) = by_operation(self.store, terms[others])
            if is_elementary(operation, fmt, hyperbolic=self._expanded is Expanded.OF_FUNCTIONS):
                return [
                    *found,
                    *((others[at], each) for at, each in self._of_elementary(operation, terms[others])),
                ]
            opaque = self._opaque.of(operation, members, fmt)
            self.quantifier.note(opaque, members)
            for form, some in by_operation(self.store, np.unique(opaque)):
                places = np.flatnonzero(np.isin(opaque, some))
                found.append((others[places], [self._atom(opaque[places], form.result)]))
        return found

    def _of_elementary(self, operation: Operation, terms: Ids) -> Groups:
        """Return the expansions of powers, logarithms, reciprocals and roots."""
        known = self._expanded_functions
        missing = np.array([each for each in terms.tolist() if each not in known], dtype=np.int32)
        if len(missing):
            (fmt,) = operation.operands
            arguments = self.polynomials(self.store.arguments(missing)[:, 0], fmt)
            read = sparse(arguments, len(missing))
            pieces = self.elementary.pieces(operation, read, masked=self._masked)
            if stem(operation) in POLES:
                zeros = [place for place, each in enumerate(read) if not each]
                poles = self.store.arguments(missing)[zeros, 0].tolist()
                self.poles.update(poles)
                if not (self._masked or self.quantifier.fractions):
                    self.store.zeros.update(poles)
            known.update(zip(missing.tolist(), pieces, strict=True))
            for each, term in zip(pieces, missing.tolist(), strict=True):
                for factor in (factor for piece in each for factor in piece.factors):
                    self.quantifier.note(self.quantifier.terms(factor), np.array([term], dtype=np.int32))
        return gathered([known[each] for each in terms.tolist()])

    def _split(self, indices: NDArray[np.intp], quantities: Quantities) -> Groups:
        """Return the expansion of some quantities of a kind, of which others are never finite."""
        pieces = self.quantifier.split(quantities[indices])
        if pieces is not None:
            return [(indices, pieces)]
        return self._placed(indices, quantities)

    def _placed(self, indices: NDArray[np.intp], quantities: Quantities) -> Groups:
        return [(indices[places], found) for places, found in self._normalise(quantities[indices])]

    def _atom(self, terms: Ids, fmt: Format) -> Piece:
        return Piece(1, (self.quantifier.read(terms, fmt),))


def _modulus(fmt: Format) -> int | None:
    return 1 << fmt.bits if is_raw(fmt) else None
