"""The element algebra: what an instruction's semantics may ask of its operands.

A spec function works on arrays (numpy indexing, broadcasting, slicing and reshape hold for all of
them) and asks everything else of the algebra it is given. Elements are *encodings*: an algebra knows
what an encoding of a format is (an unsigned integer, a Z3 bit-vector, a polynomial), and a
floating-point operation takes the formats of its operands, so nothing of an ISA's bit patterns
(signalling NaNs, payloads, padding) is lost between operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from .dot_add_model import DotAddModel
from .formats import FloatFormat, Format, IntegerFormat
from .rounding import Rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
"""Elements of one algebra, in a numpy array; leading axes are batch axes."""


class Operand(NamedTuple):
    """Encodings together with their floating-point format."""

    bits: Array
    format: FloatFormat


Product = tuple[Operand, Operand]

Encodings = tuple[Array, Format]
"""Encodings together with their format, of whatever kind."""


class Algebra(Protocol):
    """Operations on arrays of elements; every argument broadcasts.

    Conditions are arrays of truth values that support ``&``, ``|`` and ``~``. Exact integers (what
    `integer` returns) support ``+``, ``-``, ``*`` and ``sum(axis)`` without overflow.
    """

    # -- encodings and conditions
    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the zero-dimensional array of one encoding of `fmt`."""
        ...

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Choose elementwise; both sides are encodings, or both are exact integers."""
        ...

    def same(self, left: Array, right: Array) -> Array:
        """Compare encodings (or exact integers, or conditions) for identity."""
        ...

    def flags(self, immediate: Any, count: int) -> Array:
        """Return the low `count` bits of an immediate as conditions (…, count), most significant first."""
        ...

    # -- registers and memory: bytes in the order of a big-endian register image
    def unpack(self, data: Array, fmt: Format) -> Array:
        """Split bytes (…, n) into encodings (…, 8n / fmt.bits), most significant first."""
        ...

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Join encodings (…, n) into bytes (…, n * fmt.bits / 8), the inverse of `unpack`."""
        ...

    # -- fields of words: bit 0 is the least significant
    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Return the ``fmt.bits`` bits from bit `low` up of each encoding, as encodings of `fmt`."""
        ...

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Put encodings (…, n) of `fmt` into words (…), every other bit of which is 0.

        Extracting a field gives its encoding back, and assembling all that was extracted gives the word
        back; in a symbolic algebra as the identical term.

        Parameters
        ----------
        fields : array
            Encodings.
        fmt : Format
            Their format.
        positions : sequence of int
            The lowest bit of each of the n fields; increasing by ``fmt.bits`` or more.
        word : Format
            Format of the result.
        """
        ...

    # -- what an ISA leaves open
    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Apply an arbitrary function: what is claimed of its values is claimed for every function.

        Parameters
        ----------
        name : str
            The function's name. Calls with the same name, counts and formats are of the same function.
        arguments : sequence
            Encodings (…, n), each with its format: the function takes n arguments from each, in this
            order. The leading axes broadcast.
        result : Format
            Format of the values (…).
        """
        ...

    # -- integers
    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Return the exact integers that encodings stand for."""
        ...

    def whole(self, value: int) -> Array:
        """Return the zero-dimensional array of one exact integer."""
        ...

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode exact integers modulo ``2**fmt.bits``."""
        ...

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode exact integers, clamped to the range of `fmt`."""
        ...

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Tell which exact integers `fmt` can represent."""
        ...

    # -- floating point
    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Round the exact sum of products and addends once, to `result`.

        With one product this is a multiplication, with one product and one addend a fused
        multiply-add, with two addends an addition, with one addend a conversion. Zeros, infinities
        and NaNs follow IEEE 754-2019 section 6; a NaN result is the default NaN (positive, quiet,
        payload zero), see `propagate_nan`. Overflow goes to infinity or to the largest finite number
        as IEEE 754 section 7.4 says for the rounding direction.

        Parameters
        ----------
        result : FloatFormat
            Format of the result.
        rounding : Rounding
            The direction; a symbolic algebra may take a symbolic one.
        products, addends : sequence
            The terms, at least one; operands may have different formats.
        """
        ...

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Add K products and an addend as a matrix unit's model does, truncated at alignment.

        Parameters
        ----------
        result : FloatFormat
            Format of the result.
        model : DotAddModel
            How terms are aligned and the sum is rounded.
        left, right : Operand
            Factors (…, K), paired along the last axis; the leading axes broadcast.
        addend : Operand
            One more term (…).
        scales : pair of Operand, optional
            Scale factors (…, G) of the left and of the right factors. Each serves K/G neighbouring
            products, a multiple of ``model.group``.
        """
        ...

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Return `outcome`, or the first of `operands` that is a NaN, made quiet.

        An operand of a narrower format is widened, its payload left-aligned.
        """
        ...

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Return `operand`, every NaN of it as the encoding `nan`."""
        ...

    def negate(self, operand: Operand) -> Array:
        """Flip the sign, except of a NaN, which stays as it is."""
        ...

    def is_nan(self, operand: Operand) -> Array:
        """Tell which encodings are NaNs."""
        ...

    def is_zero(self, operand: Operand) -> Array:
        """Tell which encodings are +0 or -0."""
        ...

    def is_infinite(self, operand: Operand) -> Array:
        """Tell which encodings are infinities."""
        ...

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Compare as numbers: equal values (so -0 = +0), or both NaN."""
        ...
