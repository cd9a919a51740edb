"""Measures of responses: figures and sections that several of them share."""
