"""The catalogue of theorems, and what runs, caches and reports it."""
