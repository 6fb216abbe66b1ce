"""Conditions on a kernel's intermediate numbers that its formula does not imply."""
