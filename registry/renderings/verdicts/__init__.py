"""What a result amounts to, in one sentence: shown, shown to be absent, or not to be told."""
