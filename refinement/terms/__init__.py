"""Terms: the store, operations, words as slices of terms, evaluation on encodings, the driver of domains."""
