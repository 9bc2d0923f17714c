"""``d9mlint verify``: ``plan`` is what is to be executed, ``ops`` executes those of a framework, ``kernels`` CUDA's."""
