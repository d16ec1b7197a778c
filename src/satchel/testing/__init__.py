"""Tools for tests of your own: of skills, sources and agents."""

# The names are in __init__.pyi, for checkers.
# pyright: reportUnsupportedDunderAll=false
from satchel.lazy import lazy_door

__all__ = [
    "Rehearsal",
    "SourceContract",
    "assert_clean",
    "assert_complete",
    "assert_found",
    "assert_listed",
    "assert_loaded",
    "call",
    "rehearse",
    "user",
    "write_pack",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_packs": "write_pack",
        "satchel_lab.testing": "ESCAPES PACKS Packs Rehearsal SourceContract "
        "assert_clean assert_complete assert_found assert_listed assert_loaded "
        "call rehearse user",
    },
)
