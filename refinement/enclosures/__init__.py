"""Affine arithmetic over pieces of an argument: enclosures of what terms of one number can be."""
