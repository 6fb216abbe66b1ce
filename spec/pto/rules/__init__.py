"""Rules on PTO instructions, each with who checks it, on which profile and for which operation."""
