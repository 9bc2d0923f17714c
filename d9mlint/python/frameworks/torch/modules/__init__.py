"""Modules and functions of PyTorch as a program writes, holds, wraps and calls them."""
