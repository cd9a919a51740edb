"""One evaluation from end to end."""
