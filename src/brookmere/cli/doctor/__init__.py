"""`brookmere doctor`: what this machine has of what Brookmere needs."""
