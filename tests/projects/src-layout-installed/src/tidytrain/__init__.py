from tidytrain._repro import reproducible_session

__all__ = ["reproducible_session"]
