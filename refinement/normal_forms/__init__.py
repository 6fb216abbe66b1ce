"""Normal forms of terms over the reals and the rings of integers: polynomials over atoms."""
