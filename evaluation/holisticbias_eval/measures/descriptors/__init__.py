"""Descriptors by their median values: what a report names and shows of them."""
