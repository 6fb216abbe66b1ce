"""Tensor memory of sm_100 and its instructions, ``tcgen05``: tables, layouts, products and moves."""
