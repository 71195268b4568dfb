"""Storage in PostgreSQL: the tables, the engine and its transactions, and rows as values."""
