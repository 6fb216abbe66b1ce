"""Theorems about the PTX matrix instructions of warps and warpgroups."""

FAMILIES = {
    "fragment": ("layouts", "printed_fragments"),
    "warp": ("wmma",),
    "warpgroup": ("warpgroups",),
    "descriptor": ("descriptors",),
    "mbarrier": ("barriers",),
    "tensor-copy": ("tensor_copies",),
    "tensor-memory": ("tensor_layouts",),
    "tensor-product": ("tensor_products",),
    "tensor-descriptor": ("tensor_descriptors",),
    "cluster": ("clusters",),
    "matrix-move": ("matrix_moves", "loaded_tiles"),
    "wmma": ("wmma", "alignment"),
    "selector": ("selectors",),
    "sparsity": ("metadata", "sparsity"),
    "block-scale": ("scaling",),
    "composition": ("composition",),
    "blocked": ("blocked",),
    "numerics": (
        "numerics",
        "integers",
        "dot_add_steps",
        "dot_add_integers",
        "dot_add_bounds",
        "dot_add_order",
    ),
    "scalar": ("scalar_words", "scalar_integers"),
    "rounding": ("rounding_error", "rounding_bound"),
    "stated": (
        "documented",
        "printed_tables",
        "supplied",
        "texts",
        "executed",
        "contradicted",
        "machine_code",
        "undefined_operands",
        "dot_adds",
        "dot_add_parts",
        "warpgroups",
        "described_matrices",
        "barriers",
        "tensor_copies",
        "tensor_statements",
    ),
    "legal": ("verdicts", "combinations", "asynchronous_forms"),
    "foreign": ("foreign_layouts",),
}
"""The modules that have the theorems ``ptx/FAMILY/…``, in the order they are reported."""

NAMING = "naming"
"""The module that says how ids name an instruction; elsewhere it is a segment of them."""
