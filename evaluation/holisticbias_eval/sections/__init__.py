"""Sections of a report as data, which every renderer can show."""
