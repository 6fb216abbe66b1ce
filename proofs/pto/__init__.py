"""Theorems about PTO's tile instructions."""

FAMILIES = {
    "layout": ("layouts", "tile_layouts"),
    "pitch": ("pitches",),
    "transport": ("transport",),
    "product": ("products", "any_k"),
    "microscaling": ("scaling",),
    "blocked": ("blocked", "any_k"),
    "numerics": ("numerics",),
    "foreign": ("tile_layouts",),
    "stated": ("documented", "tables", "texts", "buffers", "given_arrays"),
    "legal": ("verdicts", "moves"),
}
"""The modules that have the theorems ``pto/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an operation; elsewhere it is a segment of them."""
