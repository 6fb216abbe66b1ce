"""What a contract expects: its formulas as terms and as numbers, and inputs that it admits."""
