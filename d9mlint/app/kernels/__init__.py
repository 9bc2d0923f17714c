"""``d9mlint kernels``: ``scan`` judges sources, ``installed`` lists a build, ``fixing`` and ``drafts`` write files."""
