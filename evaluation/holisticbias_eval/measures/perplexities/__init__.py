"""The parts of group_perplexity: tables of groups, figures, changes, and sections."""
