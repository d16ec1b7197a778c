"""``python -m satchel``: the same as the command ``satchel``."""

from satchel.cli import main

if __name__ == "__main__":
    main(prog_name="satchel")
