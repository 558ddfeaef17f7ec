"""``python -m kakurenbo``."""

from kakurenbo.cli import main

if __name__ == "__main__":
    main()
