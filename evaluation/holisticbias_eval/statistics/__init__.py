"""Tests, corrections, effect sizes and resampling; they know arrays, not models or releases."""
