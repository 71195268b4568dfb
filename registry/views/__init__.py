"""What a table of means shows as lines and as a trade-off; pure functions of the stored answer."""
