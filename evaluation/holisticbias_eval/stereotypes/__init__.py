"""Bias specifications, the sentences that fit them, and pairs of sentences that differ in the group."""
