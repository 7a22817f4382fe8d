"""`brookmere demo`: programs at work on live sample data."""
