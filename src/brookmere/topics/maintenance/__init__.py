"""Retention, compaction, merging and repair of embedded topics."""
