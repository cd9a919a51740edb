"""Report sections about descriptors: medians and love-hate differences."""
