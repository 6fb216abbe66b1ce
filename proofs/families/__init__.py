"""Theorems that several instruction sets have, over what each of them supplies and any algebra."""
