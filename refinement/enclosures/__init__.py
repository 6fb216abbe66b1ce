"""Enclosures of terms of one variable: affine arithmetic over pieces of its range."""
