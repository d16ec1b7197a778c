"""The configuration file of a project and of a user, read as a value."""

from typing import TYPE_CHECKING

from satchel.config._values import (
    CHOICES as CHOICES,
    CONFIG_FILE as CONFIG_FILE,
    Config as Config,
    did_you_mean as did_you_mean,
    names_in as names_in,
)
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.config._file import (
        doubt_of as doubt_of,
        find_config as find_config,
        load_config as load_config,
        own_config as own_config,
    )

__getattr__ = lazy_door(
    __name__, {"_file": "doubt_of find_config load_config own_config"}
)
