"""Parts of the measure of a neutral text."""
