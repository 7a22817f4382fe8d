"""`brookmere topics`, `produce` and `consume`."""
