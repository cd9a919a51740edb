"""Stereotype score: the outcome of each pair, the figures, and the sections of a report."""
