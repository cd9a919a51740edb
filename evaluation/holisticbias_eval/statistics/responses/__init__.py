"""Judged responses: in cells, with the bias of their means and their distribution if labels are permuted."""
