"""The scalar instructions of PTX, each written once: legal forms, operands and meaning in one row."""
