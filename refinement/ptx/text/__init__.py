"""The text of PTX modules: grammar, declarations, functions, instructions, control flow."""
