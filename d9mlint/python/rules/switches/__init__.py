"""Determinism switches."""
