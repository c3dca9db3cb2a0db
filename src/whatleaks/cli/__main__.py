"""``python -m whatleaks.cli``."""

from __future__ import annotations

from whatleaks.cli import main

if __name__ == "__main__":
    main()
