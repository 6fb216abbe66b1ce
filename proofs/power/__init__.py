"""Theorems about Power ISA MMA."""

FAMILIES = {
    "layout": ("layouts",),
    "transport": ("layouts",),
    "masking": ("masking",),
    "integers": ("integers",),
    "signs": ("signs",),
    "numerics": ("numerics", "chains"),
    "state": ("priming", "state"),
    "encoding": ("encoding",),
    "blocked": ("blocked",),
    "kernels": ("kernels",),
    "foreign": ("layouts",),
    "stated": ("documented", "texts", "machine", "executed"),
    "legal": ("documented",),
}
"""The modules that have the theorems ``power/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an instruction; elsewhere it is a segment of them."""
