"""Facts about terms: intervals, float classes, definedness, origins, roundings."""
