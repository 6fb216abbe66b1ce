"""PTO text: what it says, how it is printed, and how it is read.

What it says, and prints: `types`, then `syntax`, `statements` and `module`, each made of those before it.
How it is read: `type_reader`; `tokens` and the grammar `pto.lark`, whose rules are `semantic_actions` (with
`signatures` and `generic_form`); `reader` puts them together, and only `assembly` asks it.
"""
