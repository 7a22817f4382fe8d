"""The log of an embedded topic: segments, manifest, appends and reads."""
