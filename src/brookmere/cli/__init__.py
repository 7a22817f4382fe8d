"""The command `brookmere`."""
