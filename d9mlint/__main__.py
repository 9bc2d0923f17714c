"""``python -m d9mlint``."""

from d9mlint.cli import main

if __name__ == "__main__":
    main()
