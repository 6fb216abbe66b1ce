"""Accesses to memory: addresses, loads and stores, tables."""
