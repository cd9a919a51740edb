"""What group_perplexity is made of: tables of groups, figures, changes, and sections."""
