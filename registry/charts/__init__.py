"""What charts of several grids show: means over shared slots with their noise, and fronts; pure functions."""
