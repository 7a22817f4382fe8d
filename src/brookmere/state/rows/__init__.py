"""The rows of a replica, by kind of store and by backend."""
