"""What other processes know about stores: their names, serdes, status and text forms."""
