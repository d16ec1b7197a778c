"""Every loader that can be measured: those of each module in ``drivers/``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tools.loaders.drivers import node, peers

if TYPE_CHECKING:
    from tools.loaders.driver import Driver

DRIVERS: Final[dict[str, Driver]] = {
    driver.key: driver for driver in (*peers.DRIVERS, *node.DRIVERS)
}
