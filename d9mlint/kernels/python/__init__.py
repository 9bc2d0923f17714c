"""Python files beside kernels, read with ``ast``: their words, what stands before a place, who uses what is compiled.

``words`` and ``files`` read a file, ``calls`` the parts of a call, ``guards`` what protects a place, ``entities`` and
``composed`` the functions that use what is compiled, ``registered`` the operators that they implement. The ways to
PyTorch and TensorFlow and the kernels inside Python files build on it.
"""
