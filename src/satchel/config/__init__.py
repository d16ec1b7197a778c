"""The configuration file of a project and of a user, read as a value."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.config._file import (
        find_config as find_config,
        load_config as load_config,
        own_config as own_config,
    )
    from satchel.config._owner import doubt_of as doubt_of, is_inside as is_inside
    from satchel.config._values import (
        CHOICES as CHOICES,
        Config as Config,
        did_you_mean as did_you_mean,
        names_in as names_in,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_file": "find_config load_config own_config",
        "_owner": "doubt_of is_inside",
        "_values": "CHOICES Config did_you_mean names_in",
    },
)
