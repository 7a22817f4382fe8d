"""Compiles a plan into a program for the kernel."""
