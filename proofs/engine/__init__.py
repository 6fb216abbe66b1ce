"""Theorems about the verifier: its equations, the tables of its domains, and how it splits sizes."""

FAMILIES = {
    "rules": ("rules",),
    "domains": ("domains",),
    "sizes": ("sizes",),
}
"""The modules that have the theorems ``engine/FAMILY/…``, in the order they are reported."""
