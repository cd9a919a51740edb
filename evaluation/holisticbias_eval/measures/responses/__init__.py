"""Parts of the measures of responses: their figures, clusters of styles, and report sections."""
