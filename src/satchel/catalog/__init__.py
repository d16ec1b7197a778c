"""Sources in, catalogs out: the registry and what it is made of."""

from satchel.catalog.registry import (
    Health,
    Registry,
    SourceHealth,
    duplicate_error,
)

__all__ = ["Health", "Registry", "SourceHealth", "duplicate_error"]
