"""Values of groups: resampled by item, compared in pairs, and tested together."""
