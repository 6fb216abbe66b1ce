"""What is legal of asynchronous instructions: exactly the mnemonics of the manual's syntax lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from ...spec.errors import InputError
from ...spec.ptx.asynchronous.catalogue import every_form, form_of, later_words
from ...spec.ptx.asynchronous.instruction import read
from ...spec.ptx.asynchronous.legality import RULES, violations
from ...spec.ptx.declarations import read_declarations
from ...spec.ptx.legality import Module
from ...spec.ptx.targets import TARGETS, target_named, version_named
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from ..text_tables import table
from .stated import asynchronous as stated

SOURCE = "PTX ISA 9.1 sections 9.7.9, 9.7.13 and 9.7.20, syntax, target and ISA notes; ptxas of CUDA 13.0"

NAMES = "%r<9>: b32, %rd<9>: b64, %h<3>: b16, %f<3>: f32, %p<3>: pred, tile: shared, far: global"
"""The declarations of the names in the listed instructions."""

LEADS = (
    "mbarrier", "cp.async.mbarrier", "cp.async.bulk", "cp.reduce.async.bulk", "prefetch", "st.async",
    "red.async", "fence", "barrier.cluster", "mapa", "getctarank", "elect", "griddepcontrol", "setmaxnreg",
    "clusterlaunchcontrol",
    "tensormap", "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit", "tcgen05.ld",
    "tcgen05.ld.red", "tcgen05.st", "tcgen05.wait::ld", "tcgen05.wait::st", "tcgen05.cp", "tcgen05.shift",
    "tcgen05.commit", "tcgen05.fence::before_thread_sync", "tcgen05.fence::after_thread_sync",
    "tcgen05.mma", "tcgen05.mma.sp", "tcgen05.mma.ws", "tcgen05.mma.ws.sp",
)  # fmt: skip
"""How the mnemonics of the obligations begin."""

TARGETS_OF = {"clusterlaunchcontrol": "sm_100a", "tcgen05": "sm_100a", "tcgen05.ld.red": "sm_103a"}
"""The target that an instruction is judged for whose mnemonic begins so; others for sm_90a."""


def broken(text: str, target: str = "sm_90a", version: str = "9.0") -> frozenset[str]:
    """Return the rules that an instruction breaks; a text that is none breaks ``text``."""
    try:
        instruction = read(text, read_declarations(NAMES))
    except InputError:
        return frozenset({"text"})
    if instruction is None:
        return frozenset({"text"})
    module = Module(target_named(target), version_named(version))
    return frozenset(violation.rule.id for violation in violations(instruction.written, module))


def _of(lead: str) -> list[str]:
    """Return the mnemonics that begin so, but for those that begin with a longer one of `LEADS`."""
    longer = tuple(f"{other}." for other in LEADS if other.startswith(f"{lead}."))
    texts = (text for text in stated.mnemonics() if f"{text}.".startswith(f"{lead}."))
    return [text for text in texts if not f"{text}.".startswith(longer)]


def _target(text: str) -> str:
    leads = [lead for lead in TARGETS_OF if f"{text}.".startswith(f"{lead}.")]
    return TARGETS_OF[max(leads, key=len)] if leads else "sm_90a"


# -- every mnemonic
forms = table_theorem(
    "ptx/legal/asynchronous",
    "an asynchronous instruction is legal exactly if a syntax line of the manual has it",
    "the mnemonics of the lines are those of the rows, each with as many operands, versions and targets; ∀ "
    "those, and those with one modifier less, twice, or another one more: no rule is broken on sm_90a (of "
    "tcgen05 and clusterlaunchcontrol sm_100a, of tcgen05.ld.red sm_103a) ⇔ the target's lines have the "
    "words, those that name the operation in front, others in any order, spaces in theirs",
    SOURCE,
    lambda: {
        "mnemonics": _mnemonics,
        **{f"neighbours/{lead}": partial(_neighbours, lead) for lead in LEADS},
        **{f"modules/{lead}": partial(_modules, lead) for lead in LEADS},
    },
)


def _mnemonics() -> Certificate:
    def asked() -> Iterator[tuple[str, object]]:
        for text in stated.mnemonics():
            form = form_of(text)
            yield text, None if form is None else (form.fewest_operands, len(form.places))
        yield "forms", len(every_form())

    expected: dict[str, object] = {text: (row.fewest, row.most) for text, row in stated.mnemonics().items()}
    return compared({**expected, "forms": len(expected)}, asked)


_MORE = (
    "cta", "cluster", "gpu", "release", "relaxed", "acquire", "sc", "weak", "shared", "shared::cta", "noinc",
    "shared::cluster", "global", "b32", "b64", "u32", "s64", "f16", "f32", "tile", "im2col",
    "im2col_no_offs", "multicast::cluster", "L2::cache_hint", "bulk_group", "mbarrier::complete_tx::bytes",
    "1d", "3d", "add", "xor", "noftz", "v2", "v4", "sync", "aligned", "read", "banana", "cta_group::1", "x2",
    "kind::f16", "kind::i8", "block_scale", "block32", "ashift", "collector::a::use", "pack::16b", "warpx4",
)  # fmt: skip
_SPACES = (
    "global", "shared", "shared::cta", "shared::cluster", "param", "const", "b8x16", "b6x16_p32", "b4x16_p64",
)  # fmt: skip


def _key(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what tells mnemonics apart: words in any order, state spaces in theirs."""
    words = text.split(".")
    return (
        tuple(sorted(word for word in words if word not in _SPACES)),
        tuple(word for word in words if word in _SPACES),
    )


@cache
def _having() -> dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]:
    return {_key(text): row.targets for text, row in stated.mnemonics().items()}


def _neighbours(lead: str) -> Certificate:
    texts = _of(lead)
    chosen = texts if len(texts) < 40 else texts[:: len(texts) // 40]
    near: dict[str, None] = dict.fromkeys(texts)
    for text in chosen:
        head = lead.count(".") + 1
        words = text.split(".")
        near |= dict.fromkeys(".".join(words[:i] + words[i + 1 :]) for i in range(head, len(words)))
        near |= dict.fromkeys(f"{text}.{word}" for word in _MORE)
    asked = [text for text in near if not later_words(text) and read(text) is not None]
    there = {text: _target(text) for text in asked}
    expected = {text: there[text].removeprefix("sm_") in _having().get(_key(text), ()) for text in asked}
    return answered(expected, lambda text: not broken(text, there[text]))


def _modules(lead: str) -> Certificate:
    versions = (
        (7, 0),
        (7, 1),
        (7, 5),
        (7, 8),
        (8, 0),
        (8, 1),
        (8, 3),
        (8, 5),
        (8, 6),
        (8, 7),
        (8, 8),
        (9, 0),
    )
    names = [name for name in TARGETS if name.removeprefix("sm_") in stated.FIRST]
    alike = {stated.mnemonics()[text]: text for text in _of(lead)}
    expected = {}
    for (_, _, _, ptx, targets), text in alike.items():
        for name in names:
            short = name.removeprefix("sm_")
            first = tuple(map(int, stated.FIRST[short].split(".")))
            for version in versions:
                there = short in targets and version >= max(ptx, first)
                expected[text, name, f"{version[0]}.{version[1]}"] = there
    return answered(expected, lambda *at: not broken(*at))


# -- witnesses
rules = table_theorem(
    "ptx/legal/asynchronous-rule",
    "each rule on asynchronous instructions alone refuses one, and nothing refuses its legal neighbour",
    "the instructions written down for the rule break it and no other; with one operand, modifier, target or "
    "version changed they break none",
    SOURCE,
    lambda: {**{rule.id: partial(_alone, rule.id) for rule in RULES}, "every-rule": _every_rule},
)


def _listed(rule: str) -> Iterator[tuple[tuple[str, str, str], frozenset[str]]]:
    for row in table(stated.__package__, "asynchronous_witnesses"):
        if row["rule"] == rule:
            at = row["legal"], row["target"], row["PTX"]
            yield at, frozenset()
            place = tuple(row["for that"] if each == row["this"] else each for each in at[1:])
            text = at[0] if place != at[1:] else at[0].replace(row["this"], row["for that"])
            yield (text, *place), frozenset({rule})  # type: ignore[misc]


def _alone(rule: str) -> Certificate:
    return answered(dict(_listed(rule)), broken)


def _every_rule() -> Certificate:
    named = {row["rule"]: True for row in table(stated.__package__, "asynchronous_witnesses")}
    return compared(named, lambda: dict.fromkeys((rule.id for rule in RULES), True))


THEOREMS = (forms, rules)
