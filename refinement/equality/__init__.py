"""Equality of terms: normal forms, case splits on signs and orders, and where terms are NaN or infinite."""
