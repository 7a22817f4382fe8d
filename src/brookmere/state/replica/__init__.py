"""Replicas: follow changelogs and keep their rows."""
