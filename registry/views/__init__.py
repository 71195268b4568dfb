"""Views of a table of means as lines and as a trade-off; pure functions of the stored answer."""
