"""Grouped, windowed and co-grouped streams and tables: the handles that aggregate."""
