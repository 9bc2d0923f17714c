"""Inference and serving."""
