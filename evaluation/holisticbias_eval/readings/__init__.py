"""Read texts: replace their subjects, and measure them by lists and ratings of words."""
