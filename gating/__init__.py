"""The gate: constraint tables and layouts of third parties against the spec."""
