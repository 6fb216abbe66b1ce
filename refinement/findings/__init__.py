"""Findings and results with their documents. Imports nothing else of the engine."""
