"""A directory of Parquet files that follows the events of projects: their current cells, for analytics elsewhere.

Parts hold revisions and are never changed. A table of the current grids says which part has each of them, and the
manifest, which is replaced as a whole, says which files there are and up to which event they tell. Needs pyarrow.
"""
