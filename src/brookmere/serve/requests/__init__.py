"""What a request carries: parameters, keys, queries and the bearer token."""
