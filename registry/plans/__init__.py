"""Plans: how many trials or items the next measurement takes; pure functions without a numerical library."""
