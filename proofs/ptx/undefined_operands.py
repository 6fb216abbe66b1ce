"""What PTX instructions refuse to execute, what they read from their text, and memory in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from ...spec.algebra import Array
from ...spec.errors import InputError
from ...spec.float_encoding import rounded
from ...spec.instruction_set import instruction_set
from ...spec.ptx.assembly import parse
from ...spec.ptx.block_scaling import SCALED
from ...spec.ptx.operand_arrays import immediates
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.variant_rules import narrow
from ...spec.rounding import Rounding
from ..comparison import arrays_compared, compared, refusal_is
from ..obligation import Certificate
from ..stated import encodings
from ..table_theorem import Table, answered, table_theorem
from .documented import STATED, every_stated_instruction
from .executed import shape
from .stated import combinations, operand_types

SOURCE = "PTX ISA 9.1 sections 9.7.14.2 to 9.7.14.6"


undefined_operands = table_theorem(
    "ptx/stated/undefined",
    "what has no result is refused and nothing else, each message names what is allowed, and batches are "
    "executed one by one",
    "∀ listed operands of products, in matrices and in registers: refused or executed as the list says; "
    "∀ sparse instructions of the tables: the metadata that each takes; "
    "selectors are those of the text; a product of any element and any scale factor is exact where they are "
    "multiplied; ldmatrix, stmatrix and wmma on batches of memory and addresses are those of each; what is "
    "wrong in a mnemonic is told with what may stand there",
    SOURCE,
    lambda: {
        "operands": _operands,
        "selectors": _selectors,
        "scaled": _scaled,
        "batches": _batches,
        "messages": Table(STATED, "messages", "mnemonic, rule", _message),
        "nibbles": _nibbles,
    },
)


# -- operands
def _nibbles() -> Certificate:
    expected = {}
    for text in every_stated_instruction():
        if text.startswith("mma.sp"):
            _, _, _, (_, a, b, *_) = combinations.meaning(text)
            expected[text] = operand_types.nibbles(a, b, text.startswith("mma.sp::ordered_metadata"))

    def specified(text: str) -> list[int]:
        sparsity = multiplication(parse(text).variant).sparsity
        assert sparsity is not None
        return sorted(sparsity.legal_nibbles)

    return answered(expected, specified)


def _zeros(text: str, registers: bool) -> dict[str, Array]:
    """Return operands of zeros, metadata that are valid: matrices of encodings, or registers."""
    listed = every_stated_instruction()[text.split(" ", maxsplit=1)[0]][0]
    if registers:
        words = {
            role.partition(" ")[0]: int(role.partition(" ")[2] or 1) for role in listed if "sel" not in role
        }
        found = {name: np.zeros((32, count), dtype=np.uint32) for name, count in words.items() if name != "d"}
        if "metadata" in found:
            found["metadata"] += np.uint32(0x44444444)
        return found
    m, n, k = shape(text)
    kept = k // 2 if text.startswith("mma.sp") else k
    wide = {"f64": np.uint64, "f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "tf32": np.uint32,
            "s32": np.uint32}  # fmt: skip
    _, a, b, c, *_ = combinations.meaning(text.split(" ", maxsplit=1)[0])[3]
    extents = {"a": ((m, kept), a), "b": ((k, n), b), "c": ((m, n), c)}
    found = {
        f"{name}_bits": np.zeros(at, dtype=wide.get(kind, np.uint8)) for name, (at, kind) in extents.items()
    }
    if kept < k:
        found["metadata_bits"] = np.full((m, k // 4), 0b0100, dtype=np.uint8)
    if "scale_vec" in text:
        factors = int(text[text.index("scale_vec::") + 11])
        found["scale_a_bits"] = np.zeros((m, factors), dtype=np.uint8)
        found["scale_b_bits"] = np.zeros((factors, n), dtype=np.uint8)
    return found


@refusal_is(False)
def _is_executed(
    text: str, choice: str, registers: bool, name: str, at: tuple[int, ...], word: int
) -> object:
    arrays = _zeros(text, registers)
    arrays[name if registers else f"{name}_bits"][at] = word
    read = instruction_set("ptx").read(text)
    read.execute(arrays, as_registers=registers, rounding=None, choices=[choice] if choice else [])
    return True


def _operands() -> Certificate:
    return answered(
        {
            (text, choice, registers, name, at, word): taken
            for registers, table in ((False, operand_types.MATRICES), (True, operand_types.REGISTERS))
            for text, choice, name, at, word, taken in table
        },
        _is_executed,
    )


def _selectors() -> Certificate:
    def specified() -> Iterator[tuple[str, object]]:
        for text in operand_types.SELECTORS:
            instruction = parse(text)
            try:
                read = immediates(multiplication(instruction.variant), instruction)
            except InputError:
                yield text, "refused"
            else:
                pairs = [None if pair is None else tuple(pair) for pair in (read.scale_a, read.scale_b)]
                yield text, (*pairs, read.sparsity)

    return compared(operand_types.SELECTORS, specified)


def _scaled() -> Certificate:
    """Return the claim that the format of scaled elements has the product of any element and factor."""
    ends = {
        name: [x for x in encodings.read(name).values if x > 0 and x < 1e300]
        for name in (*operand_types.ELEMENTS, *operand_types.SCALES)
    }
    expected = {
        (element, scale): [float(x * y) for x, y in product(ends[element], ends[scale])]
        for element, scale in product(operand_types.ELEMENTS, operand_types.SCALES)
    }
    return compared(
        expected,
        lambda: {
            pair: rounded(np.array(products), SCALED, Rounding.NEAREST_EVEN).tolist()
            for pair, products in expected.items()
        },
    )


# -- batches of memory
def _batches() -> Certificate:
    memory = (np.arange(3 * 640) * 73 % 251).astype(np.uint8).reshape(3, 640)
    addresses = 16 * ((np.arange(64).reshape(2, 1, 32) * 13) % 37)
    load, store = "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "stmatrix.sync.aligned.m8n8.x4.shared.b16"
    wmma = (
        "wmma.load.a.sync.aligned.col.m16n16k16.shared.u8",
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32",
    )
    registers = np.arange(3 * 32 * 4, dtype=np.uint32).reshape(3, 32, 4)
    numbers = np.arange(3 * 256).reshape(3, 16, 16)
    wide = np.zeros((3, 2048), dtype=np.uint8)

    def run(text: str, **arrays: Array) -> Array:
        found = instruction_set("ptx").read(text).execute(
            arrays, as_registers=False, rounding=None, choices=[]
        )  # fmt: skip
        return np.asarray(found["memory" if "store" in text or "stmatrix" in text else "d"]).astype(np.int64)

    def all_at_once() -> Mapping[str, Array]:
        once = addresses[0, 0]
        distinct = 16 * (np.arange(32) * 7 % 40)
        return {
            "loads": run(load, memory=memory, addresses=addresses),
            "loads of one memory": run(load, memory=memory[0], addresses=addresses[:, 0]),
            "loads at the same addresses": run(load, memory=memory, addresses=once),
            "stores": run(store, memory=memory, addresses=distinct, r=registers),
            "stores to one memory": run(store, memory=memory[1], addresses=distinct, r=registers[:2]),
            "wmma loads": run(wmma[0], memory=memory, address=np.array(16)),
            "wmma stores": run(wmma[1], memory=wide, address=np.array(32), d=numbers, stride=np.array(24)),
            "wmma stores to one": run(wmma[1], memory=wide[0], address=np.array(0), d=numbers),
        }

    def one_by_one() -> Mapping[str, Array]:
        once = addresses[0, 0]
        distinct = 16 * (np.arange(32) * 7 % 40)
        every = range(3)
        return {
            "loads": np.stack([
                np.stack([run(load, memory=memory[at], addresses=some[0]) for at in every])
                for some in addresses
            ]),
            "loads of one memory": np.stack([
                run(load, memory=memory[0], addresses=some[0]) for some in addresses
            ]),
            "loads at the same addresses": np.stack([
                run(load, memory=memory[at], addresses=once) for at in every
            ]),
            "stores": np.stack([
                run(store, memory=memory[at], addresses=distinct, r=registers[at]) for at in every
            ]),
            "stores to one memory": np.stack([
                run(store, memory=memory[1], addresses=distinct, r=registers[at]) for at in (0, 1)
            ]),
            "wmma loads": np.stack([run(wmma[0], memory=memory[at], address=np.array(16)) for at in every]),
            "wmma stores": np.stack([
                run(wmma[1], memory=wide[at], address=np.array(32), d=numbers[at], stride=np.array(24))
                for at in every
            ]),
            "wmma stores to one": np.stack([
                run(wmma[1], memory=wide[0], address=np.array(0), d=numbers[at]) for at in every
            ]),
        }  # fmt: skip

    return arrays_compared(one_by_one(), all_at_once)


# -- messages
def _message(mnemonic: str, rule: str) -> str | None:
    return narrow(parse(mnemonic).variant).messages.get(rule)


THEOREMS = (undefined_operands,)
