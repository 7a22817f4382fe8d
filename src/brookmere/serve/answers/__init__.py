"""Response bodies: pages, problems, event streams and metrics."""
