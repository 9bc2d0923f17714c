"""Calls of libraries whose results are documented to vary."""
