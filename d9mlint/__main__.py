"""``python -m d9mlint``."""

from d9mlint.cli import entry

if __name__ == "__main__":
    entry()
