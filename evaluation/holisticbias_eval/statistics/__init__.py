"""Tests, corrections, effect sizes and resampling, on arrays."""
