"""Gates: contenders of a baseline, judged against it."""
