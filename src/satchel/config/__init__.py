"""satchel.toml, or the table tool.satchel of pyproject.toml, as a value."""

from satchel.config._config import (
    CHOICES as CHOICES,
    CONFIG_FILE as CONFIG_FILE,
    Config,
    find_config,
    load_config,
    names_in as names_in,
)

__all__ = ["Config", "find_config", "load_config"]
