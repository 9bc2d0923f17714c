"""Ops whose results vary: which calls of them a program makes, how it uses them, and which gradients follow."""
