"""Equality of terms: normal forms, case splits on signs, and where terms are NaN or infinite."""
