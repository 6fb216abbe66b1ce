"""Every opcode of the PTX ISA: its section, and the targets that have it.

Source: PTX ISA 9.1 (CUDA 13.0) section 9.7 and the target notes of each instruction; the targets of wgmma,
tcgen05 and setmaxnreg were tried on ptxas 13.0. What of an opcode's forms is legal is not said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from .targets import TARGETS, Availability, Target

SPECIFIED = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "wgmma")
"""Opcodes of the instructions that are specified here."""

_SECTIONS = MappingProxyType(
    {
        "9.7.1 integers": "abs add bfe bfi bfind bmsk brev clz div dp2a dp4a fns mad mad24 max min mul mul24 "
        "neg popc rem sad sub szext",
        "9.7.2 extended precision": "addc madc subc",
        "9.7.3 to 9.7.5 floats": "copysign cos ex2 fma lg2 rcp rsqrt sin sqrt tanh testp",
        "9.7.6, 9.7.7 comparison and selection": "selp set setp slct",
        "9.7.8 logic and shifts": "and cnot lop3 not or shf shl shr xor",
        "9.7.9 data movement": "applypriority createpolicy cvt cvta discard getctarank isspacep ld ldu "
        "mapa mov multimem prefetch prefetchu prmt shfl st tensormap",
        "9.7.9.25 asynchronous copies": "cp",
        "9.7.10 textures": "istypep tex tld4 txq",
        "9.7.11 surfaces": "suld suq sured sust",
        "9.7.12 control flow": "bra brx call exit ret",
        "9.7.13 synchronisation": "activemask atom bar barrier clusterlaunchcontrol elect fence "
        "griddepcontrol match mbarrier membar red redux vote",
        "9.7.14 matrices": "ldmatrix mma movmatrix stmatrix wmma",
        "9.7.15 warpgroup matrices": "wgmma",
        "9.7.16 tensor memory": "tcgen05",
        "9.7.17 stack": "alloca stackrestore stacksave",
        "9.7.18, 9.7.19 video": "vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax "
        "vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4",
        "9.7.20 others": "brkpt nanosleep pmevent setmaxnreg trap",
    }
)

_FIRST_TARGETS = MappingProxyType(
    {
        75: "ldmatrix movmatrix tanh",
        80: "applypriority cp createpolicy discard mbarrier redux",
        90: "elect getctarank griddepcontrol mapa multimem stmatrix tensormap",
        100: "clusterlaunchcontrol",
    }
)
"""Opcodes that sm_70 lacks, by the number of the first target that has them."""

_FIRST_TARGETS_OF_FORMS = MappingProxyType(
    {
        90: "barrier.cluster cp.async.bulk cp.reduce.async.bulk fence.mbarrier_init fence.proxy.async "
        "fence.proxy.tensormap::generic mbarrier.arrive.expect_tx mbarrier.complete_tx mbarrier.expect_tx "
        "mbarrier.try_wait prefetch.tensormap red.async st.async",
        100: "st.bulk",
    }
)
"""Forms that came after their opcode, by the number of the first target that has them."""

_SUFFIXED = frozenset(name for name, target in TARGETS.items() if target.suffix and target.number >= 90)
_EXACTLY = MappingProxyType(
    {
        "wgmma": frozenset({"sm_90a"}),
        "tcgen05": frozenset(name for name in _SUFFIXED if 100 <= TARGETS[name].number < 120),
        "setmaxnreg": _SUFFIXED,
    }
)
"""Opcodes that only some targets have, whatever comes later."""

_BARE = ("bra", "brkpt", "call", "exit", "ret", "trap")
"""Opcodes that stand without modifiers."""

_WRITTEN = re.compile(r"\s*(?:@\s*!?\s*[\w$%]+\s+)?([a-z]\w*)((?:\s*\.\s*(?:\w|::)+)*)", re.ASCII)


@dataclass(frozen=True)
class Opcode:
    """An opcode of PTX.

    Attributes
    ----------
    name : str
        What stands before the first dot; of a form that came later, the modifiers that tell it too.
    section : str
        Of the PTX ISA: number and title.
    availability : Availability
        The targets that have some form of it; of versions nothing is said.
    """

    name: str
    section: str
    availability: Availability

    @property
    def is_specified(self) -> bool:
        """Whether its instructions are specified here."""
        return self.name in SPECIFIED

    @property
    def is_matrix_product(self) -> bool:
        """Whether it belongs to the tensor cores: specified, or of the tensor memory."""
        return self.is_specified or self.name == "tcgen05"

    def on(self, target: Target) -> bool:
        """Tell whether a target has it."""
        return self.availability.on(target)

    @property
    def newest_target(self) -> str:
        """The last of the targets that have it."""
        return [name for name, target in TARGETS.items() if self.on(target)][-1]


def _opcodes() -> Iterator[Opcode]:
    first = {name: number for number, names in _FIRST_TARGETS.items() for name in names.split()}
    for section, names in _SECTIONS.items():
        for name in names.split():
            exactly = _EXACTLY.get(name, frozenset[str]())
            yield Opcode(name, section, Availability((6, 0), first.get(name, 70), exactly))


OPCODES = MappingProxyType({opcode.name: opcode for opcode in _opcodes()})
"""Every opcode by name."""

FORMS = MappingProxyType(
    {
        name: replace(OPCODES[name.partition(".")[0]], name=name, availability=Availability((6, 0), first))
        for first, names in _FIRST_TARGETS_OF_FORMS.items()
        for name in names.split()
    }
)
"""Forms that some targets lack though they have the opcode, by the beginning of their mnemonics."""


def form_of(mnemonic: str) -> Opcode | None:
    """Return the form that a mnemonic begins with, else its opcode; None where PTX has no such opcode."""
    words = mnemonic.split(".")
    beginnings = (".".join(words[:count]) for count in range(len(words), 1, -1))
    return next((FORMS[beginning] for beginning in beginnings if beginning in FORMS), OPCODES.get(words[0]))


def opcode_of(text: str) -> tuple[Opcode, str] | None:
    """Return the opcode with which an instruction of PTX begins, and its mnemonic; None where it is no PTX.

    A word that other assemblers have too, such as ``add``, is an opcode where modifiers follow it.
    """
    found = _WRITTEN.match(text)
    if found is None:
        return None
    modifiers = re.sub(r"\s", "", found[2])
    if (opcode := form_of(found[1] + modifiers)) is None:
        return None
    if not modifiers and not (opcode.name in _BARE or opcode.is_matrix_product):
        return None
    return opcode, found[1] + modifiers
