"""Theorems about Power ISA MMA."""

FAMILIES = {
    "layout": ("layouts",),
    "transport": ("transport",),
    "masking": ("masking", "exceptions"),
    "integers": ("integers",),
    "signs": ("signs",),
    "numerics": ("numerics", "exact_steps", "chains", "printed_bounds"),
    "state": ("priming", "state"),
    "encoding": ("encoding",),
    "blocked": ("blocked",),
    "kernels": ("kernels",),
    "foreign": ("foreign_layouts",),
    "stated": ("documented", "results", "texts", "machine", "executed"),
    "legal": ("legality",),
}
"""The modules that have the theorems ``power/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an instruction; elsewhere it is a segment of them."""
