"""Turns names of Java libraries into jars: from the cache, a directory or the Maven repository."""
