"""What all sessions of one Satchel share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from satchel.model import Catalog, Hit, Loaded, Manifest, Rendered, Style
from satchel.policy import Policy
from satchel.protocols import Clock, TokenCounter, UsedApprovals
from satchel.runtime.conversation.editions import Editions
from satchel.runtime.loading import LoadPath
from satchel.runtime.offers import Offers

if TYPE_CHECKING:
    from satchel.runtime.local_copy import LocalStager

__all__ = ["Shelf"]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The parts of a `satchel.Satchel` that its sessions stand on.

    ``catalog`` gives the catalog in use, which a sync replaces; ``render`` its section
    within the budget; ``find`` ranks it. ``used`` is where approvals are noted once
    they are used, ``may_exist`` tells whether an id may be that of a skill.
    """

    catalog: Callable[[], Catalog]
    render: Callable[[Catalog, Style], Rendered]
    load: LoadPath
    find: Callable[[str, int], Sequence[Hit]]
    manifest: Callable[[Loaded], Manifest]
    offers: Offers
    policy: Policy
    editions: Editions
    counter: TokenCounter
    clock: Clock
    local_stager: "Callable[[], LocalStager]"
    used: Callable[[], UsedApprovals]
    may_exist: Callable[[str], bool]
