"""What the rules on asynchronous instructions exclude and ptxas of CUDA 13.0 takes all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...legality import Note, NoteKind, Violation
from ..operands import Address, Decimal, HexFloat, Integer, Register, Sink, Vector
from ..special_registers import SPECIAL
from .catalogue import form_of, spelling
from .legality import Asynchronous, is_of_sort, placed, registers
from .operands import Elected, Given, NegatedPlace, Offset
from .rows import Form, Place, Sort


@dataclass(frozen=True)
class Lenience:
    """Something that the manual rules out, and ptxas of CUDA 13.0 takes.

    Attributes
    ----------
    rule : str
        What it violates.
    what : str
        In words.
    applies : callable
        Tells whether an instruction is so.
    """

    rule: str
    what: str
    applies: Callable[[Asynchronous], bool]


def _outside(place: Place, operand: Given) -> bool:
    return isinstance(operand, Integer) and place.values is not None and operand.value not in place.values


def _unchecked_counts(written: Asynchronous) -> bool:
    """Tell counts that are not looked at: of init, of bytes; of arrivals all but 0 and negative ones."""
    for form, place, operand in placed(written):
        if isinstance(operand, Integer) and _outside(place, operand):
            positive = 0 < operand.value & 0xFFFF_FFFF < 1 << 31
            unchecked = place.name in ("txCount", "N", "enable-input-d") or form.row.head == "mbarrier.init"
            unchecked |= form.row.head == "tcgen05.dealloc" and not operand.value % 32
            if not unchecked and not (place.name == "count" and positive):
                return False
    return True


def _other_sorts(written: Asynchronous) -> bool:
    """Tell whether every operand of another sort is one that ptxas takes."""
    return all(
        is_of_sort(form, place, operand) or _passes(form, place, operand)
        for form, place, operand in placed(written)
    )


def _passes(form: Form, place: Place, operand: Given) -> bool:
    match place.sort, operand:
        case ((Sort.INTEGER | Sort.DATA), Offset()):
            return True
        case Sort.INTEGER, Vector():
            return place.name in ("count", "ctaMask")
        case Sort.INTEGER, (HexFloat() | Decimal()):
            return place.name == "new_val"
        case Sort.DATA, _:
            return form.row.opcode == "st"
        case Sort.RESULT, (Elected(Register(), Sink()) | Vector((Register(),))):
            return isinstance(operand, Elected) or place.name == "redval"
        case Sort.INTEGER, Elected(Register(), Sink()):
            return form.row.head == "tcgen05.dealloc"
        case Sort.CONSTANT, (Register() | NegatedPlace()):  # behind a predicate in the place of a mask
            return place.name == "scale-input-d" and _is_predicate(operand)
        case Sort.ADDRESS, Address(Integer()):
            return form.row.head == "fence.proxy"
        case Sort.ADDRESS, _:
            return form.row.opcode == "cp" and not isinstance(operand, Address)
    return False


def _other_registers(written: Asynchronous) -> bool:
    """Tell whether every register of another type is one that ptxas takes."""
    return all(
        register.type in types or _suits(form, place, operand, str(register.type))
        for form, place, operand in placed(written)
        for register, types in registers(place, form, operand)
    )


def _suits(form: Form, place: Place, operand: Given, declared: str) -> bool:
    if place.sort is Sort.ADDRESS:
        return declared[0] in "bus" or form.row.opcode in ("cp", "fence")
    if place.sort is Sort.TENSOR or isinstance(operand, Offset):
        return True
    if declared.startswith("."):
        return place.sort in (Sort.ADDRESS, Sort.LOCATION) and declared != SPECIAL
    if place.name == "ctaMask":
        return declared in ("b64", "u64", "s64") and "im2col" in form.modifiers
    if place.name == "new_val":
        return declared in (f"f{place.bits}", "f16x2")
    return declared == "f16x2" and form.row.opcode not in ("mbarrier", "cp")


def _dropping(lead: str, *words: str) -> Callable[[Asynchronous], bool]:
    """Return whether an instruction that begins so is one of the rows without one of some words."""

    def applies(written: Asynchronous) -> bool:
        head, modifiers = spelling(written.mnemonic)
        places = [place for place, word in enumerate(modifiers) if word in words]
        return f"{written.mnemonic}.".startswith(lead) and any(
            form_of(".".join([head, *modifiers[:place], *modifiers[place + 1 :]])) is not None
            for place in places
        )

    return applies


def _is_predicate(operand: Given) -> bool:
    register = operand.operand if isinstance(operand, NegatedPlace) else operand
    return isinstance(register, Register) and register.type == "pred"


def _more_of_products(written: Asynchronous) -> bool:
    """Tell whether a product has a predicate for the mask of lanes, or, of integers, a scale of D."""
    form, given = written.form, written.operands or ()
    if (
        form is None
        or form.row.head not in ("tcgen05.mma", "tcgen05.mma.sp")
        or "block_scale" in form.modifiers
    ):
        return False
    masked = any(one and other for one, other in pairwise(map(_is_predicate, given)))
    scaled = "kind::i8" in form.modifiers and isinstance(given[-1], Integer)
    return masked or scaled


def _lacking(lead: str, word: str) -> Callable[[Asynchronous], bool]:
    """Return whether an instruction that begins so is one of the rows with one more word."""

    def applies(written: Asynchronous) -> bool:
        return written.mnemonic.startswith(lead) and form_of(f"{written.mnemonic}.{word}") is not None

    return applies


def _without_barrier(written: Asynchronous) -> bool:
    return written.mnemonic.startswith(("st.async.", "red.async.")) and len(written.operands or ()) == 2


def _generic(written: Asynchronous) -> bool:
    stores = written.mnemonic.startswith(
        (
            "st.async.",
            "red.async.",
            "cp.async.mbarrier.",
            "tcgen05.alloc.",
            "tcgen05.commit.",
            "clusterlaunchcontrol.",
        )
    )
    return stores and "shared" not in written.mnemonic


def _constant_answer(written: Asynchronous) -> bool:
    answer = (written.operands or ())[1:2]
    constant = all(isinstance(each, Integer | Offset) for each in answer)
    return written.mnemonic.startswith("clusterlaunchcontrol.query_cancel.") and constant


def _one_way_fence(written: Asynchronous) -> bool:
    return written.mnemonic.startswith(("fence.acquire", "fence.release"))


_SPACES = ("shared", "shared::cta", "shared::cluster", "global")

LENIENT = (
    Lenience("async-constant", "counts of arrivals and bytes beyond their ranges", _unchecked_counts),
    Lenience(
        "async-operand", "sums for numbers, addresses without brackets, other vectors", _other_sorts
    ),
    Lenience("async-register", "registers of other types for addresses and numbers", _other_registers),
    Lenience("async-operand-count", "stores without a barrier", _without_barrier),
    Lenience("async-operand-count", "predicates for masks of lanes, scales of integers", _more_of_products),
    Lenience(
        "async-modifier", "moves of tensor memory without .aligned", _lacking("tcgen05.", "aligned")
    ),
    Lenience("async-modifier", ".NaN twice", _dropping("tcgen05.ld.red.", "NaN")),
    Lenience("async-modifier", ".b4x16_p64 behind any instruction", _dropping("", "b4x16_p64")),
    Lenience("async-modifier", ".sync twice", _dropping("", "sync")),
    Lenience(
        "async-modifier", "scopes of plain bulk copies",
        _dropping("cp.async.bulk.", "cta", "cluster", "gpu", "sys"),
    ),
    Lenience("async-modifier", "other spaces of stores", _dropping("st.async.", "shared", "shared::cta")),
    *(
        Lenience("async-modifier", "state spaces of fences of these proxies", _dropping(lead, *_SPACES))
        for lead in ("fence.proxy.tensormap::generic.", "fence.proxy.async::generic.")
    ),
    Lenience("async-operand", "numbers for answers to requests", _constant_answer),
    Lenience("async-version", "fence.acquire and fence.release in every version", _one_way_fence),
    Lenience(
        "async-space", "variables anywhere, for maps behind fences",
        lambda written: written.mnemonic.startswith("fence.proxy.tensormap::generic."),
    ),
    Lenience("async-space", "variables anywhere, for generic addresses of stores and copies", _generic),
)  # fmt: skip
"""All that is known; of what an entry is about ptxas may refuse some."""


def objections(written: Asynchronous, wrong: Sequence[Violation]) -> tuple[Note, ...]:
    """Return why ptxas may take an illegal instruction all the same; nothing where it refuses it."""
    rules = {violation.rule.id for violation in wrong}
    applying = [each for each in LENIENT if each.rule in rules and each.applies(written)]
    if rules - {each.rule for each in applying}:
        return ()
    found = dict.fromkeys(each.what for each in applying)
    return tuple(Note(NoteKind.OBJECTION, f"ptxas of CUDA 13.0 takes {what}") for what in found)
