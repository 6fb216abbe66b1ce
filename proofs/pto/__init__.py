"""Theorems about PTO's tile instructions."""

FAMILIES = {
    "layout": ("layouts", "tile_layouts"),
    "pitch": ("pitches",),
    "transport": ("transport",),
    "product": ("products",),
    "microscaling": ("scaling",),
    "blocked": ("blocked", "ragged_k"),
    "stated": ("documented", "tables"),
    "legal": ("verdicts",),
}
"""The modules that have the theorems ``pto/FAMILY/…``, in the order they are reported."""
