"""Callbacks for training loops of others. Each module imports its library; nothing here imports any of them."""
