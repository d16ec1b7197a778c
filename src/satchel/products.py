"""The products around the heart, by literal names; each is imported when it is used.

A product is a folder next to this one. What is not installed answers with one line.
"""

from importlib import import_module
from typing import Any, Final

from satchel.errors import ConfigError, ProductMissingError

# The module of each command, in which it is called ``command``.
COMMANDS: Final = {
    **dict.fromkeys(
        (
            *("check", "convert", "diff", "eval", "explain", "new", "pack", "predict"),
            "retire",
        ),
        "satchel_lab",
    ),
    **dict.fromkeys(("build", "publish"), "satchel_store"),
    **dict.fromkeys(
        ("add", "push", "remove", "store", "sync", "trust", "verify", "withdraw"),
        "satchel_install",
    ),
    **dict.fromkeys(("connect", "serve", "usage"), "satchel_server"),
    "role": "satchel_compat",
}

# The module that opens addresses of each scheme, by a function ``open_address`` of an
# address, the pin, whether addresses of private networks will do, and limits.
SCHEMES: Final = {
    **dict.fromkeys(("http", "https"), "satchel_store.http"),
    "oci": "satchel_install.oci",
}

# What a skill's page shows of other products, each by its title and its module, which
# has a `satchel.protocols.Panel` under the same key in ``PANELS``.
PANELS: Final = {
    "check": ("What check says", "satchel_lab.panels"),
    "clients": ("Where clients show it", "satchel_lab.panels"),
}


def import_product(module: str, what: str) -> Any:  # noqa: ANN401 - a module
    """Import a module of another product; ``what`` is said to need it.

    Raises:
        ProductMissingError: The product is not installed.
    """
    product = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != product:
            raise
        raise ProductMissingError(what, product) from error


def has_product(product: str) -> bool:
    """Return whether a product is installed, without importing it."""
    from importlib.util import find_spec

    return find_spec(product) is not None


def added(group: str, name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return what another distribution adds under a name, or None.

    The groups are ``satchel.commands`` and ``satchel.addresses``. To look at all that
    is installed takes time, so ask for names that are not ours only.

    Raises:
        ConfigError: It cannot be imported.
    """
    from importlib.metadata import entry_points

    for entry in entry_points(group=group, name=name):
        try:
            return entry.load()
        except Exception as error:  # a plug-in may raise anything
            source = f"{group}, {name!r} of {entry.dist.name if entry.dist else '?'}"
            detail = (
                f"{entry.value} cannot be imported: {type(error).__name__}: {error}"
            )
            raise ConfigError(source, f"{detail}; update or remove it") from error
    return None


def opener_of(address: str) -> Any:  # noqa: ANN401 - see `SCHEMES`
    """Return the function that opens an address; None if nothing knows its scheme.

    Raises:
        ProductMissingError: It is in a product that is not installed.
    """
    scheme, mark, _ = address.partition("://")
    if not mark:
        return None
    if scheme in SCHEMES:
        return import_product(SCHEMES[scheme], f"{scheme}://").open_address
    return added("satchel.addresses", scheme)
