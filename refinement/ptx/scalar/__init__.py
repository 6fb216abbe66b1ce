"""Scalar instructions: arithmetic, bits, conversions, comparisons, moves."""
