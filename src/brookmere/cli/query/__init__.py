"""`brookmere query`: read rows of a store, from a local replica or over HTTP."""
