"""Jobs: invalidation, leasing, retries, retention and shutdown. What a job computes lives elsewhere."""
