"""`brookmere kafka` and `brookmere registry`: the development broker and schema registry."""
