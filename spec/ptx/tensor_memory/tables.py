"""Tables of tensor memory for readers: fields of descriptors, and what kinds of products there are."""

from __future__ import annotations

from collections.abc import Iterator

from . import shared_descriptor, zero_columns
from .descriptor_rules import listed
from .instruction_descriptor import table
from .kinds import KINDS, Kind, columns_of_d, rows_of_d

SOURCE = "PTX ISA 9.1 section 9.7.16; CuTe"


def field_rows() -> list[dict[str, str]]:
    """Return a row for each field of each descriptor."""
    tables = (*map(table, KINDS), shared_descriptor.TABLE, zero_columns.TABLE)
    return [row | {"source": SOURCE} for each in tables for row in each.rows()]


def kind_rows() -> list[dict[str, str]]:
    """Return a row for each kind, number of CTAs, and ``.sp`` and ``.ws`` or not."""
    return [row for kind in KINDS.values() for row in _rows(kind)]


def _rows(kind: Kind) -> Iterator[dict[str, str]]:
    for ws, ctas in ((False, 1), (False, 2), (True, 1)):
        for sparse in (False, True):
            rows = rows_of_d(kind, ws=ws, ctas=ctas, sparse=sparse)
            if not rows:
                continue
            columns = columns_of_d(kind, ws=ws, ctas=ctas, sparse=sparse)
            yield {
                "kind": kind.name,
                "form": f"tcgen05.mma{'.ws' * ws}{'.sp' * sparse}.cta_group::{ctas}",
                "D": ", ".join(kind.accumulators),
                "A x B": ", ".join(kind.multiplicands),
                "scale factors": "; ".join(
                    f"{', '.join(kind.scales)}: {size or 'none spelled'} {count}"
                    for size, count in kind.vectors
                ),
                "M": listed(rows),
                "N": listed(columns),
                "K": str(kind.k(sparse=sparse)),
                "source": SOURCE,
            }
