"""Ops whose result varies."""
