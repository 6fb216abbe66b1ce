"""Products and moves of PTO on buffers: what is read and written where, as the headers' formulas have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.pto import movers
from ...spec.pto.buffers import read
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.choices import choices_of
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.fractal import buffer_layout, layout_of
from ...spec.pto.global_memory import GlobalView, ViewOrder, contiguous, view_extents
from ...spec.pto.placement import mover_placement, physical
from ...spec.pto.sizes import Extents
from ...spec.pto.targets import PROFILES
from ...spec.pto.tile import Pad
from ..comparison import compared, refusal_is, refused
from ..obligation import Certificate
from ..table_theorem import table_theorem
from .stated import buffers as stated
from .stated import tables
from .stated.move_runs import EXTENTS, MATRICES, MOVES, NO_MATRICES, REFUSED
from .stated.product_runs import PRODUCTS, REFUSED_PRODUCTS, Run
from .verdicts import spelled_tile

SOURCE = "pto-isa headers at 3186c381: TMATMUL, TGEMV, TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE, pto_tile.hpp"


executed = table_theorem(
    "pto/stated/buffers-executed",
    "instructions read and write the elements of buffers that the headers' formulas name",
    "products, loads, moves and stores of listed tiles on each profile and under each choice, on whole "
    "numbers: the whole buffer of the result, also outside the valid region, is the listed function of the "
    "buffers before; extents known at run time only; pads; insertions; views of memory in five dimensions",
    SOURCE,
    lambda: {
        **{
            name: goal
            for profile in tables.PROFILES
            for name, goal in (
                (f"runs/{profile}", partial(_runs, profile)),
                (f"insertions/{profile}", partial(_insertions, profile)),
            )
        },
        "pads": _pads,
        "views": _views,
        "extents": _extents,
        "refused": _refused,
        "layouts": _layouts,
        "matrices": _matrices,
        "compact": _compact,
    },
)


def _run(run: Run, profile: str) -> object:
    statement = instruction_set("pto").read(run.text(profile))
    found = statement.execute(
        run.arrays(profile), as_registers=not run.matrices, rounding=None, choices=run.choices, target=profile
    )
    result = found["target_bits"] if run.matrices else next(iter(found.values()))
    return result.tolist()


def _runs(profile: str) -> Certificate:
    runs = {run.name: run for run in (*PRODUCTS, *MOVES) if profile in run.profiles}
    expected = {name: run.result(profile).tolist() for name, run in runs.items()}
    return compared(expected, lambda: {name: _run(run, profile) for name, run in runs.items()})


def _matrices() -> Certificate:
    """Compare moves of matrices, on each profile, and what is refused of them."""
    runs = {(run.name, profile): run for run in MATRICES for profile in run.profiles}
    wrong = {(f"no {run.name}", profile): run for run in NO_MATRICES for profile in run.profiles}
    expected: dict[Any, object] = {key: run.result(key[1]).tolist() for key, run in runs.items()}
    expected |= dict.fromkeys(wrong, True)

    def specified() -> Mapping[Any, object]:
        found: dict[Any, object] = {key: _run(run, key[1]) for key, run in runs.items()}
        return found | {key: refused(partial(_run, run, key[1])) for key, run in wrong.items()}

    return compared(expected, specified)


def _compact() -> Certificate:
    """Insert into a compact tile from a compact one; modes that are not modelled have no pitch."""
    places = ((0, 0), (16, 16), (4, 3))
    modes = list(product(range(4), tables.PROFILES))
    expected: dict[object, object] = {place: stated.compact_buffers(*place)[2].tolist() for place in places}
    expected |= {(mode, profile): mode < 2 or profile == "CPU" for mode, profile in modes}

    def inserted(row: int, column: int) -> object:
        before, moved, _ = stated.compact_buffers(row, column)
        tiles = [spelled_tile(text, "A5") for text in stated.COMPACT]
        formats: Any = tuple(tile.element.format for tile in tiles)
        extents = [Extents(*extent) for extent in stated.COMPACT_EXTENTS]
        return movers.insert(
            NumpyAlgebra(), OPERATIONS["tinsert"], PROFILES["A5"], (tiles[0], tiles[1]), formats,
            (moved, before), (extents[0], extents[1]), choices_of(PROFILES["A5"]), row, column,
        ).tolist()  # fmt: skip

    @refusal_is(False, UnsupportedError)
    def has_pitch(mode: int, profile: str) -> object:
        tile = spelled_tile(f"{stated.COMPACT[0].partition(' compact')[0]} compact={mode}", profile)
        mover_placement(PROFILES[profile], tile, stated.COMPACT_EXTENTS[0])
        return True

    def specified() -> Mapping[object, object]:
        found: dict[object, object] = {place: inserted(*place) for place in places}
        return found | {each: has_pitch(*each) for each in modes}

    return compared(expected, specified)


def _insertions(profile: str) -> Certificate:
    """Insert 32 x 32 elements into 64 x 64, from several places on."""
    places = ((0, 0), (32, 32), (16, 8), (1, 3))
    source, target = (spelled_tile(text, profile) for text in stated.INSERTED)
    before, moved = stated.insertion_buffers()

    def inserted(row: int, column: int) -> object:
        formats: Any = (source.element.format, target.element.format)
        extents = Extents(32, 32), Extents(64, 64)
        of_profile = PROFILES[profile]
        found = movers.insert(
            NumpyAlgebra(), OPERATIONS["tinsert"], of_profile, (source, target), formats, (moved, before),
            extents, choices_of(of_profile), row, column,
        )  # fmt: skip
        whole = movers.insert(
            NumpyAlgebra(), OPERATIONS["tinsert"], of_profile, (source, target), formats, (moved, before),
            extents, choices_of(of_profile),
        ) if (row, column) == (0, 0) else found  # fmt: skip
        return found.tolist() if np.array_equal(found, whole) else "another place"

    expected = {place: stated.inserted(*place).tolist() for place in places}
    return compared(expected, lambda: {place: inserted(*place) for place in places})


def _pads() -> Certificate:
    def specified() -> Iterator[tuple[tuple[str, str], int]]:
        for element, pad in stated.PADS:
            fmt = ELEMENT_TYPES[element].format
            assert isinstance(fmt, Format)
            yield (element, pad), movers.pad_encoding(Pad[pad], fmt)

    return compared(stated.PADS, specified)


def _views() -> Certificate:
    def specified() -> Iterator[tuple[object, object]]:
        for order, shape in stated.VIEWS:
            view = GlobalView(shape, stated.STRIDES, ViewOrder(order))
            rows, columns = view.extents
            offsets = view.offset(*np.indices((rows, columns)))
            memory = np.arange(int(offsets.max()) + 1)
            part = view.read(memory, rows - 1 or 1, columns)
            written = view.write(np.zeros((2, len(memory)), dtype=int), 1 + offsets)
            consistent = np.array_equal(part, offsets[: rows - 1 or 1]) and written.shape == (2, len(memory))
            consistent &= np.array_equal(written[1][offsets], 1 + offsets)
            consistent &= int(np.count_nonzero(written)) == 2 * offsets.size
            wrong = [(memory, rows + 1, columns), (memory, rows, columns + 1), (memory[:-1], rows, columns)]
            consistent &= all(refused(partial(view.read, *each)) for each in wrong)
            yield (order, shape), offsets.tolist() if consistent else "not what it says"
        yield "contiguous", contiguous(3, 5)
        for extents in stated.VIEW_EXTENTS:
            yield extents, view_extents(extents)

    expected: dict[Any, object] = {
        (order, shape): stated.view_offsets(order, shape) for order, shape in stated.VIEWS
    }
    expected["contiguous"] = GlobalView((1, 1, 1, 3, 5), (15, 15, 15, 5, 1))
    expected |= stated.VIEW_EXTENTS
    return compared(expected, specified)


def _extents() -> Certificate:
    def specified() -> Mapping[str, bool]:
        return {name: refused(partial(_run, run, "A5")) for name, (run, _) in EXTENTS.items()}

    return compared({name: wrong for name, (_, wrong) in EXTENTS.items()}, specified)


def _refused() -> Certificate:
    tile = spelled_tile("mat 32x32xf16 Nz", "A5")
    part = {n: partial(read, "source", np.zeros(n), physical(tile), 32, 32) for n in (1023, 1024)}

    def specified() -> Mapping[object, bool]:
        found: dict[object, bool] = {
            (run.name, profile): refused(partial(_run, run, profile))
            for run in (*REFUSED, *REFUSED_PRODUCTS)
            for profile in run.profiles
        }
        return found | {n: refused(each) for n, each in part.items()}

    expected: dict[object, bool] = {
        (run.name, profile): True for run in (*REFUSED, *REFUSED_PRODUCTS) for profile in run.profiles
    }
    return compared(expected | {1023: True, 1024: False}, specified)


def _layouts() -> Certificate:
    """Offsets of all elements: by the executable formula, by its text, and by the table of a buffer."""

    def specified() -> Iterator[tuple[str, object]]:
        for text in stated.LAYOUTS:
            tile = spelled_tile(text, "A5")
            order = layout_of(tile)
            r, c = np.indices((tile.rows, tile.columns))
            offsets = order.offset(r, c, order.pitch(tile.rows, tile.columns))
            formula = order.formula(tile.rows, tile.columns)
            spelled = eval(formula.replace("/", "//"), {"r": r, "c": c})
            (table,) = buffer_layout(tile).forward(r, c)
            same = np.array_equal(offsets, spelled) and np.array_equal(offsets, table)
            yield text, offsets.tolist() if same else "its text says otherwise"
            if text in stated.FORMULAS:
                yield f"formula of {text}", formula

    expected: dict[str, object] = {text: stated.offsets_of(text).tolist() for text in stated.LAYOUTS}
    expected |= {f"formula of {text}": formula for text, formula in stated.FORMULAS.items()}
    return compared(expected, specified)


THEOREMS = (executed,)
