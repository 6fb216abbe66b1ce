"""One step of every float multiplication of PTX in the exact theory of floating point."""

from __future__ import annotations

from dataclasses import replace

from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.variant import Shape
from ..families.block_products import BlockProduct, Blocks
from ..families.exact_steps import one_term
from .blocked import SOURCE, block_of, instructions


def _of_one_product() -> Blocks:
    """Return an instruction for each types and modifiers of the arithmetic, on one product.

    Those with scale factors are on one product for each; a sparse A adds the products of what it stores.
    """
    found: dict[str, BlockProduct] = {}
    for name, form in instructions().items():
        if form.is_integer or form.sparsity is not None:
            continue
        assert isinstance(form.form, MmaForm)
        m, n, _ = form.shape
        k = 1 if form.block_scale is None else form.block_scale.vector
        one = replace(form, form=replace(form.form, shape=Shape(m, n, k)))
        found.setdefault(name.partition("/")[2], block_of(one))
    return found


THEOREMS = (one_term("ptx", SOURCE, _of_one_product),)
