"""The schema's history: forward only; expand, backfill, contract."""
