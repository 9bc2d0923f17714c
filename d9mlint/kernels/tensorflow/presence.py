"""Whether sources register kernels of TensorFlow: cheap to ask, and to import."""

from __future__ import annotations

from d9mlint.kernels.source.repository import Repository

BUILDER = b"KERNEL_BUILDER"
"""What a source holds that registers kernels itself (``REGISTER_KERNEL_BUILDER``)."""


def is_tensorflow(repository: Repository) -> bool:
    """Whether any source registers a kernel."""
    return any(BUILDER in repository.data(path) for path in repository.sources)
