"""The equations of the equality engine as rows of data, each an obligation `engine/rules/NAME`."""
