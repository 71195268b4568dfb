"""Jobs: how due work is found, leased, retried and stopped. What is computed lives elsewhere."""
