"""Images of Power programs: object files, assembler text, instruction forms."""
