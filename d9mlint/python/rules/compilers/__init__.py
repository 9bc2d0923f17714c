"""Compilers: XLA, torch.compile, Triton, and threads."""
