"""Runs the user's program under control, more than once, and finds where two runs of it part."""
