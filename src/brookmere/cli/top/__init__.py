"""`brookmere top`: a live view of a running application."""
