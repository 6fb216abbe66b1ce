"""What a run of the catalogue found out, and the files that say so."""
