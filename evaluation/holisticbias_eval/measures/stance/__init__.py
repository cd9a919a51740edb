"""Stance contrast: the pairs of templates, and the sections of a report."""
