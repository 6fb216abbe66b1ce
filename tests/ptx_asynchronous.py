"""Asynchronous instructions that ptxas is asked about: every form, and what is near it."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_assembler import DECLARATIONS, REGISTER_TYPES

from mmaproof.spec.ptx.asynchronous.catalogue import every_form
from mmaproof.spec.ptx.asynchronous.rows import Form, Place, Sort
from mmaproof.spec.ptx.targets import TARGETS, Target

NAMES = {**DECLARATIONS, "in_shared": ".shared", "in_global": ".global"}
"""Types of the names in the texts."""

FOREIGN = (
    "cta", "cluster", "gpu", "release", "relaxed", "acquire", "acq_rel", "weak", "shared", "shared::cta",
    "shared::cluster", "global", "noinc", "parity", "b32", "b64", "u32", "s64", "f16", "f32", "noComplete",
    "expect_tx", "tile", "im2col", "multicast::cluster", "L2::cache_hint", "bulk_group",
    "mbarrier::complete_tx::bytes", "2d", "5d", "add", "and", "noftz", "v2", "v4", "sync", "aligned", "read",
    "tensormap", "proxy", "async", "sp", "ws", "red", "x1", "x16", "x128", "cta_group::1", "cta_group::2",
    "kind::f16", "kind::mxf4", "block_scale", "block16", "scale_vec::2X", "ashift", "collector::a::use",
    "collector::b1::fill", "pack::16b", "32x32b", "warpx4", "b4x16_p64", "min", "abs", "NaN",
)  # fmt: skip
"""Modifiers that are tried on every form."""


def operand(form: Form, place: Place, number: int) -> str:
    """Return an operand that fits."""
    name = f"b{place.bits}_{number}"
    match place.sort:
        case Sort.ADDRESS:
            in_shared = any("shared" in word for word in form.modifiers) and form.spaces(place) != ("global",)
            return f"[{'b32' if in_shared else 'b64'}_{number}]"
        case Sort.TENSOR:
            return f"[b64_{number}, {{{', '.join(f'b32_{i}' for i in range(form.rank))}}}]"
        case Sort.SINK:
            return "_"
        case Sort.CONSTANT:
            return str(place.values[0] if place.values else 0)
        case Sort.PREDICATE | Sort.CONDITION:
            return f"pred_{number}"
        case Sort.CELLS | Sort.MATRIX:
            return f"[b32_{number}]"
        case Sort.VECTOR | Sort.COORDINATES:
            return f"{{{', '.join(f'b32_{i}' for i in range(form.vector_length(place)))}}}"
        case Sort.ELECTED:
            return f"b32_{number}|pred_{number}"
        case Sort.OFFSETS:
            return f"{{{', '.join(f'b16_{i}' for i in range(form.rank - 2))}}}"
        case Sort.DATA:
            names = [f"{form.type}_{i}" for i in range(form.elements)]
            return f"{{{', '.join(names)}}}" if form.elements > 1 else names[0]
    return name


def operands(form: Form, *, every: bool = False) -> list[str]:
    """Return operands that fit: those that must be there, or all."""
    places = [place for place in form.places if every or place.available is None]
    return [operand(form, place, number) for number, place in enumerate(places)]


def text(mnemonic: str, given: list[str]) -> str:
    return f"{mnemonic} {', '.join(given)};" if given else f"{mnemonic};"


def legal_texts(form: Form) -> Iterator[str]:
    """Yield a form with its operands."""
    for every in dict.fromkeys((False, len(form.places) > form.fewest_operands)):
        yield text(form.mnemonic, operands(form, every=every))


def near_modifiers(form: Form) -> Iterator[str]:
    """Yield a form with one modifier less, more, twice or in another place."""
    words, given = form.modifiers, operands(form)
    for place in range(len(words)):
        yield text(".".join([form.row.head, *words[:place], *words[place + 1 :]]), given)
    yield text(".".join([form.row.head, *reversed(words)]), given)
    for word in FOREIGN:
        yield text(".".join([form.row.head, *words, word]), given)
    yield text(".".join([form.row.head.rpartition(".")[0] or form.row.head, *words]), given)


def near_operands(form: Form) -> Iterator[str]:
    """Yield a form with one operand of another kind, one less and one more."""
    given = operands(form, every=True)
    for place in range(len(given)):
        for other in _others(given[place]):
            yield text(form.mnemonic, [*given[:place], other, *given[place + 1 :]])
    if form.fewest_operands > 1:
        yield text(form.mnemonic, operands(form)[:-1])
    yield text(form.mnemonic, [*given, "b32_9"])


def _others(given: str) -> Iterator[str]:
    bracketed = given.startswith("[")
    registers = [f"{name}_7" for name in REGISTER_TYPES]
    constants = (
        "0",
        "1",
        "2",
        "3",
        "8",
        "15",
        "16",
        "24",
        "128",
        "256",
        "1048560",
        "1048575",
        "1048576",
        "-1",
    )
    yield from registers
    yield from constants
    yield from ("0f00000000", "_", "{b32_1}", "{b32_1, b32_2}", "{b16_1}", "[b32_1]", "[b64_1]", "b32_1+4")
    yield from ("b32_1|pred_1", "_|pred_1", "b32_1|_", "pred_1|pred_2", "!pred_1", "in_shared", "in_shared+8")
    if bracketed and "," not in given:
        yield from (
            f"[{register}]" for register in (*registers, "in_shared", "in_global+8", "b32_1+16", "16")
        )
    elif bracketed:
        yield given.replace("{b32_0", "{b32_1, b32_0")
        yield given.replace("{b32_0", "{f32_0")
        yield given.replace("{b32_0", "{5")
        yield given.replace("{b32_0", "{_")
        yield from (given.replace("b64_", f"{name}_") for name in REGISTER_TYPES if "pred" not in name)
        yield given.replace(", {", "+8, {")


def forms() -> tuple[Form, ...]:
    return every_form()


def target_of(form: Form) -> Target:
    """Return a target that has a form."""
    names = ("sm_90a", "sm_100a", "sm_103a")
    return next(TARGETS[name] for name in names if form.available.on(TARGETS[name]))
