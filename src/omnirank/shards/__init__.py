"""Data that do not fit in memory: Parquet files and other tables in parts, read block by block."""
