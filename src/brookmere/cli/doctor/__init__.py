"""`brookmere doctor`: check that this machine has everything Brookmere needs."""
