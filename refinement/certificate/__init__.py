"""Certificates: the terms of both sides, the instances of rows that make them equal, hypotheses."""
