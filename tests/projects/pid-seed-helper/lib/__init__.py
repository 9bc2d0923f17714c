from .rng import reset_rng

__all__ = ["reset_rng"]
