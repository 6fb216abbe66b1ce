"""Questions about instructions: legality, layouts, execution, meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .arguments import several, text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..reports.execution_trace import Trace
    from ..reports.explanation import Explanation
    from ..reports.layout_answer import LayoutAnswer
    from ..reports.legality_answer import LegalityAnswer
    from ..spec.algebra import Array
    from ..spec.drawn_arrays import DrawnArrays
    from ..spec.instruction_set import Instruction
    from ..spec.operand_arrays import Observer


def legal(
    instruction: str, target: str | None = None, *, ptx: str | None = None, registers: str | None = None
) -> LegalityAnswer:
    """Say whether an instruction is legal, or which rules it violates.

    Parameters
    ----------
    instruction : str
        As an assembler takes it, with operands or without; or as a listing, inline assembly, a compiler's
        built-in or CuTe's atom has it, which a note says.
    target : str, optional
        The processor, such as ``power10``, ``sm_90a``, ``A5`` or ``gfx942``; by default the ISA's newest.
    ptx : str, optional
        Version of PTX; other ISAs don't look at it.
    registers : str, optional
        What the names in an instruction of PTX are declared as: ``"%r<10>:b32, %p1:pred"``.

    Raises
    ------
    InputError
        If it is no instruction, or the target is unknown.
    UnsupportedError
        If it is one that is known, and not judged.
    """
    from ..reports.foreign_spellings import own_spelling
    from ..reports.legality_answer import LegalityAnswer
    from ..spec.errors import InputError
    from ..spec.instruction_set import of_target, read, recognised
    from ..spec.legality import Note, NoteKind

    for value, name in ((target, "target"), (ptx, "ptx"), (registers, "registers")):
        if value is not None:
            text(value, name)
    if target is not None:
        of_target(target)
    own = own_spelling(text(instruction, "instruction"))
    try:
        written = read(own, target, registers)
    except InputError:
        if recognised(own) is None:
            from ..reports.kernel_opcodes import require_unknown

            require_unknown(own, None if target is None else of_target(target).name)
        raise
    judgement = written.legal(target, ptx)
    if own != instruction:
        note = Note(NoteKind.FILLED_IN, f"read as {own.strip()}")
        judgement = replace(judgement, notes=(note, *judgement.notes))
    return LegalityAnswer(instruction, judgement)


def layout(instruction: str, operand: str, target: str | None = None) -> LayoutAnswer:
    """Say who holds which element of an operand: a lane or a register, and in which bits.

    Parameters
    ----------
    instruction : str
        With operands or without.
    operand : str
        ``a``, ``b``, ``c``, ``d``, ``metadata``, ``scale_a``, ``scale_b``; ``registers`` or ``addresses`` of
        a matrix move; ``x``, ``y`` or ``acc`` of a Power rank-k update.
    target : str, optional
        The processor, where layouts depend on it.

    Raises
    ------
    InputError
        If it is no instruction, has no such operand, or the target is none of its instruction set's.
    UnsupportedError
        If the ISA does not specify the layout.
    """
    from ..reports.layout_answer import LayoutAnswer

    what = _on_target(instruction, target)
    text(operand, "operand")

    def others() -> list[LayoutAnswer]:
        names = (name for name in what.laid_out(target) if name != operand)
        return [LayoutAnswer(instruction, name, what.layout(name, target)) for name in names]

    return LayoutAnswer(instruction, operand, what.layout(operand, target), others)


def run(
    instruction: str,
    operands: Mapping[str, ArrayLike] | DrawnArrays,
    *,
    registers: bool = False,
    rounding: str | None = None,
    choices: str | Sequence[str] = (),
    target: str | None = None,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute the specification of one instruction on data.

    Parameters
    ----------
    instruction : str
        With operands or without.
    operands : mapping of str to array
        By name, batch axes first, as ``mmaproof run`` takes them from a file: ``x`` (..., 4, k), ``y`` and
        ``acc`` of Power; ``a`` (..., M, K), ``b`` (..., K, N), ``c`` (..., M, N) and so on of the others; or
        ``x_bits``, ``a_bits``, ... as encodings. `DrawnArrays` get their shapes from the instruction.
    registers : bool
        Arrays are register images: Power uint8 (..., 16), PTX uint32 (..., 32, registers).
    rounding : str, optional
        Of Power: ``nearest-even``, ``toward-zero``, ``upward`` or ``downward``.
    choices : sequence of str
        Presets, or ``POINT=OPTION``.
    target : str, optional
        The processor, where results depend on it.
    observer : Observer, optional
        Told what is executed; see `trace`.

    Returns
    -------
    dict of str to array
        The results and their encodings: ``acc``, ``acc_bits``; ``d``, ``d_bits``.

    Raises
    ------
    InputError
        If the instruction is not legal, on the target if there is one, or can't be executed, or an array is
        missing or wrong.
    """
    from ..spec.drawn_arrays import DrawnArrays
    from ..spec.errors import InputError

    arrays: Mapping[str, Array]
    if isinstance(operands, DrawnArrays):
        arrays = operands
    elif not isinstance(operands, Mapping):
        raise InputError(f"operands must be a mapping of names to arrays, not {type(operands).__name__}")
    else:
        arrays = {name: _array(name, given) for name, given in operands.items()}
    what = _on_target(instruction, target)
    if target is not None and (wrong := what.legal(target).violations):
        raise InputError(f"{what.mnemonic} is illegal on {target}: {'; '.join(map(str, wrong))}")
    return what.execute(
        arrays,
        as_registers=registers,
        rounding=rounding,
        choices=[str(choice) for choice in several(choices)],
        target=target,
        observer=observer,
    )


def _array(name: str, given: ArrayLike) -> Array:
    """Return an operand as an array.

    Raises
    ------
    InputError
        If it is none, such as nested lists of different lengths.
    """
    import numpy as np

    from ..spec.errors import InputError

    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError) as reason:
        raise InputError(f"{name} is no array: {str(reason).partition('. ')[0]}") from None


def trace(
    instruction: str, element: str, operands: Mapping[str, ArrayLike] | DrawnArrays, **options: Any
) -> Trace:
    """Execute an instruction, and say how one element of its result is computed.

    Parameters
    ----------
    instruction, operands
        As `run` takes them.
    element : str
        Which element, batch axes first: ``D[3,5]``, ``acc[0,1]``.
    **options
        Others of `run`.

    Raises
    ------
    InputError
        As of `run`; if there is no such element, or nothing is computed from matrices.
    """
    from ..reports.execution_trace import Tracer

    tracer = Tracer(instruction, text(element, "element"))
    run(instruction, operands, **options, observer=tracer)
    return tracer.trace


def _on_target(instruction: str, target: str | None) -> Instruction:
    """Read an instruction that is to be looked at on a target.

    Raises
    ------
    InputError
        If it is no instruction, or its instruction set has no such target.
    """
    from ..reports.foreign_spellings import own_spelling
    from ..spec.errors import InputError
    from ..spec.instruction_set import of_instruction, of_target, read

    own = own_spelling(text(instruction, "instruction"))
    what = read(own)
    if target is not None and of_target(text(target, "target")).name != (isa := of_instruction(own)).name:
        raise InputError(f"{isa.name} has no target {target!r}; it has {', '.join(isa.targets)}")
    return what


def explain(name: str) -> Explanation:
    """Say what an instruction, a theorem, an obligation, a rule, a choice or a finding means.

    Raises
    ------
    InputError
        If nothing is called so, or a prefix is not unique.
    UnsupportedError
        If it is an instruction that is known, but not modelled.
    """
    from ..reports import explanation

    return explanation.explain(text(name, "name"))
