"""The stores of a replica and how they are queried."""
