"""What is known of terms: intervals, float classes, definedness, origins, roundings."""
