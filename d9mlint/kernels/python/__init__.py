"""Python files beside kernels, read with ``ast``: their words, what stands before a place, who uses what is compiled.

``words`` and ``files`` read a file, ``guards`` what protects a place in it, ``entities`` and ``composed`` the functions
that use what is compiled. The ways to PyTorch and TensorFlow and the kernels inside Python files build on it.
"""
