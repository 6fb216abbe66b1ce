"""Theorems about PTO's tile instructions."""

FAMILIES = {
    "layout": ("layouts", "tile_layouts"),
    "pitch": ("pitches",),
    "transport": ("transport",),
    "product": (
        "products",
        "any_size",
    ),
    "microscaling": ("scaling",),
    "blocked": ("blocked", "ragged_k"),
    "numerics": ("exact_steps", "narrowing", "chains", "printed_bounds"),
    "foreign": ("foreign_layouts",),
    "stated": ("documented", "names", "tables", "texts", "buffers", "given_arrays"),
    "legal": ("verdicts", "moves", "modules"),
}
"""The modules that have the theorems ``pto/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an operation; elsewhere it is a segment of them."""
