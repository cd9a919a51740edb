"""Classifiers of texts: their cards, their engines, and what they are given to read."""
