"""Contracts: their TOML schema, parameters, sizes, conditions and accuracy clauses."""
