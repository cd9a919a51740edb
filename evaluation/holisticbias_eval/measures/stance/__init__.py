"""Stance contrast: the pairs of templates, and what a report shows."""
