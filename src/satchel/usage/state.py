"""Where one machine keeps what was used: the user's state folder."""

import os
from typing import Final

__all__ = ["state_file"]

NAME: Final = "usage.db"


def state_file() -> str:
    """Return the path of the database, in the folder that the system has for such."""
    import platformdirs

    folder = platformdirs.user_state_path("satchel", appauthor=False)
    return os.path.join(folder, NAME)  # noqa: PTH118 - a string is what is wanted
