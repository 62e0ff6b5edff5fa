"""``python -m omnirank``."""

from omnirank.cli import main

if __name__ == "__main__":
    main()
