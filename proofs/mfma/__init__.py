"""Theorems about AMD's MFMA."""

FAMILIES = {
    "layout": ("layouts",),
    "blocked": ("blocked",),
    "numerics": ("numerics",),
    "foreign": ("layouts",),
    "stated": ("documented", "results"),
    "legal": ("legality",),
}
"""The modules that have the theorems ``mfma/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an instruction; elsewhere it is a segment of them."""
