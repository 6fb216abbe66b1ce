"""Mutated texts: whatever stands in them, they are judged, or refused by one line of an `MmaproofError`."""

from __future__ import annotations

import random
import re

import pytest
from pto_texts import INSTRUCTIONS, MANUAL_MODE, OTHER_STATEMENTS, PAGE_LISTINGS

from mmaproof.spec.errors import InputError, MmaproofError
from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.instruction_set import INSTRUCTION_SET
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.resolution import resolve_known
from mmaproof.spec.pto.targets import PROFILES
from mmaproof.spec.pto.tile import Location, Order

TILE = "!pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>"
GENERIC = (
    f'"pto.tmatmul.acc"(%c, %a, %b, %c) <{{accPhase = #pto<acc_phase final>}}> : ({TILE}, {TILE}, '
    f"{TILE}, {TILE}) -> ()",
    f'%t = "pto.alloc_tile"(%x) <{{operandSegmentSizes = array<i32: 1, 0, 0>}}> : (i64) -> {TILE}',
    '%x = "arith.constant"() <{value = 4096 : i64}> : () -> i64',
)
MODULE = """#map = affine_map<(d0) -> (d0)>
!acc = {tile}
module attributes {{pto.target_arch = "a5"}} {{
  func.func private @g(i32) -> i32
  func.func @f(%p: !pto.ptr<f16>, %n: index) attributes {{pto.aicore}} {{
    {others}
    scf.for %i = %c0 to %n step %c1 {{
      {instructions}
      %r = scf.if %q -> (i32) {{
        scf.yield %x : i32
      }} else {{
        scf.yield %y : i32
      }}
    }}
    {generic}
    return
  }}
}}
"""
WHOLE = MODULE.format(
    tile=TILE,
    others="\n    ".join(OTHER_STATEMENTS),
    instructions="\n      ".join(INSTRUCTIONS[name] for name in ("E8", "E9", "E13 load", "E15", "E16")),
    generic="\n    ".join(GENERIC),
)
TEXTS = (*INSTRUCTIONS.values(), *OTHER_STATEMENTS, *PAGE_LISTINGS, *GENERIC, MANUAL_MODE, WHOLE)
PIECES = (
    *"()[]{}<>,:;=%@#!^\"'?-+.\n\t\0é", "->", "...", "::", "loc=", "x", "0x", "1e400", "-1", "9" * 40,
    "9" * 5000, "{" * 70, "<" * 70, "!t", "#m", "%a", "%a#1", "@f", "^bb0", "//", "ins", "outs", "iter_args",
    "attributes", "module", "scf.for", "scf.if", "else", "return", "func.func", "pto.tmov", "pto.alloc_tile",
    "arith.constant", '"pto.tmov"', "memref<1x1xf32>", "tensor<?xf16>", "index", "f8E4M3FN", "rows=",
    "valid=?x?", "fractal=32", "pad=9", "compact=3", "true", "dense<1>", "array<i32: 1>", "-0", "0x", "1x",
    "?x?x",
)  # fmt: skip
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def mutated(text: str, random_: random.Random) -> str:
    """Return a text with some of its tokens dropped, doubled, swapped, replaced or cut off."""
    tokens = TOKEN.findall(text)
    for _ in range(random_.randint(1, 4)):
        at, other = random_.randrange(len(tokens)), random_.randrange(len(tokens))
        match random_.randrange(6):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] *= 2
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = random_.choice(PIECES)
            case 4:
                tokens[at] += random_.choice(PIECES)
            case 5:
                tokens[at:] = tokens[at : at + random_.randint(1, 40)]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(8))
def test_mutated_texts_are_judged_or_refused(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(120):
        text = mutated(random_.choice(TEXTS), random_)
        target = random_.choice([*PROFILES, None])
        try:
            judgement = INSTRUCTION_SET.read(text).legal(target)
        except MmaproofError as error:
            assert "\n" not in str(error), text
            assert len(str(error)) < 1500, text
            before, _, found = str(error).rpartition("found ")
            expected = before.rpartition("expected ")[2].replace(" or ", ", ").rstrip(", ").split(", ")
            assert found not in expected, text  # «expected '{', found '{'» says nothing
        else:
            assert judgement.target in PROFILES
            assert all(len(str(violation)) < 20_000 for violation in judgement.violations)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_is_printed_and_read_again(seed: int) -> None:
    random_ = random.Random(100 + seed)
    read = 0
    for _ in range(120):
        text = mutated(random_.choice(TEXTS), random_)
        try:
            module = parse_module(text)
        except InputError:
            continue
        read += 1
        assert parse_module(str(module)).body == module.body, text
    assert read > 10


def _tile(random_: random.Random) -> str:
    """Return a type as a program might have it: most fields fit, any may not."""
    rows, columns = (random_.choice((1, 8, 16, 32, 48, 64, 256)) for _ in range(2))
    fields = [str(random_.choice(list(Location))), f"{rows}x{columns}x{random_.choice(list(ELEMENT_TYPES))}"]
    if random_.random() < 0.3:
        fields.append(
            f"valid={random_.choice(('?', rows, 1, 16))}x{random_.choice(('?', columns, 1, 2 * columns))}"
        )
    if random_.random() < 0.7:
        fields.append(f"blayout={random_.choice([Order.ROW_MAJOR, Order.COL_MAJOR])}")
        fields.append(f"slayout={random_.choice(list(Order))}")
    if random_.random() < 0.5:
        fields.append(f"fractal={random_.choice((32, 512, 1024))}")
    if random_.random() < 0.2:
        fields.append(f"compact={random_.randrange(4)}")
    return f"!pto.tile_buf<{', '.join(fields)}>"


def _operand(role: str, random_: random.Random) -> str:
    if role in ("row", "column"):
        return "index"
    if role == "quantisation":
        return random_.choice(("i64", "!pto.tile_buf<scaling, 1x16xui64>", _tile(random_)))
    extents = "x".join(str(random_.choice((1, 16, 64, "?"))) for _ in range(random_.randint(1, 6)))
    view = f"!pto.partition_tensor_view<{extents}x{random_.choice(('f16', 'f32', 'i8'))}>"
    return random_.choice((_tile(random_),) * 8 + (view, view, f"memref<{extents}xf16>", "index"))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=str)
def test_any_operands_of_any_operation_are_judged_for_every_profile(operation) -> None:
    random_ = random.Random(str(operation))
    for _ in range(40):
        roles = [*operation.inputs, *(role for role in operation.optional if random_.random() < 0.3)]
        types = [_operand(role, random_) for role in roles]
        names = ", ".join(f"%{number}" for number in range(len(roles)))
        written = _operand(operation.output, random_)
        text = f"pto.{operation} ins({names} : {', '.join(types)}) outs(%d : {written})"
        try:
            instruction = parse(text)
        except InputError:
            continue
        for profile in PROFILES.values():
            found = judge(resolve_known(instruction, profile))
            for message in map(str, (*found.violations, *found.notes)):
                assert "None" not in message, text
