"""Everything an application needs before its query starts: topics, changelogs, lock, start offsets."""
