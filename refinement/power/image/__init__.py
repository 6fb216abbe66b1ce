"""Programs of Power in memory: object files, assembler text, forms of instructions."""
