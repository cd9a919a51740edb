"""What measures of texts about groups share: figures by group, comparisons of groups, and their sections."""
