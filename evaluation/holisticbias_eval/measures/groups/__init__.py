"""Figures by group, comparisons of groups, and their sections, for measures of texts about groups."""
