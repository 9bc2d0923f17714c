"""Kernels inside Python files: Triton, Numba, CuPy, Pallas, Warp, CUDA text."""
