"""What PTO's headers and pages say, written down again as tables: nothing here knows the specification."""
