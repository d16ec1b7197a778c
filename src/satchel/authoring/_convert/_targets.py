"""What a conversion can be for: a dialect, or the folder of a client."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.authoring._convert._values import DIALECTS, Conversion, Dialect
from satchel.clients import CLIENT_FOLDERS, ClientFolders
from satchel.model import SKILL_FILE, Finding

if TYPE_CHECKING:
    from satchel.clients import Prediction


# Where the folder's name is not what the client is called by.
_NAMES: Final = {".github": "copilot", ".agent": "antigravity", ".config": "amp"}


@dataclass(frozen=True, slots=True)
class ConvertTarget:
    """A dialect, or a client: then ``folder`` is where it looks, below a project.

    ``client`` is its full name. With ``home`` it looks there in a user's home only.
    """

    name: str
    dialect: Dialect | None = None
    folder: str = ""
    client: str = ""
    home: bool = False


def _of_client(client: ClientFolders) -> ConvertTarget:
    folder = (client.project or client.user)[0]
    first = folder.partition("/")[0]
    name = _NAMES.get(first, first.removeprefix("."))
    return ConvertTarget(
        name, folder=folder, client=client.name, home=not client.project
    )


def _targets() -> dict[str, ConvertTarget]:
    targets = [ConvertTarget(name, dialect) for name, dialect in DIALECTS.items()]
    targets += map(_of_client, CLIENT_FOLDERS)
    return {target.name: target for target in targets}


# By name, dialects first; clients in the order of `satchel.clients.CLIENT_FOLDERS`.
TARGETS: Final = _targets()


def predict_client(conversion: Conversion, target: ConvertTarget) -> Conversion:
    """Return the conversion with what is known of the client's own loader.

    A loader is the client's where they have a word of their names in common. Nothing is
    added where nothing is known.
    """
    draft = conversion.draft
    if draft is None or not target.folder:
        return conversion
    from satchel.clients import Candidate, loaders, predict

    own_loaders = [
        loader
        for loader in loaders()
        if loader.kind == "client" and _words(loader.title) & _words(target.client)
    ]
    others = tuple(file.path for file in draft.files if file.path != SKILL_FILE)
    candidate = Candidate(draft.skill_md, draft.name, files=others)
    return conversion.with_findings(
        prediction_findings(predict(candidate, own_loaders), conversion.source)
    )


def prediction_findings(
    outcomes: Iterable["Prediction"], source: str
) -> Iterator[Finding]:
    """Yield a warning for each loader that loses the pack, a note where it is cut."""
    from satchel.clients import VERDICTS

    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict in {"loaded", "unknown"}:
            continue
        is_cut = verdict == "cut"
        yield Finding.of(
            "client-cuts" if is_cut else "client-refuses",
            f"{source}/{SKILL_FILE}",
            severity="note" if is_cut else None,
            sentence="conversion",
            client=outcome.loader.title,
            verdict=VERDICTS[verdict],
            advice=outcome.fix or "see what satchel check --for says",
        )


def _words(title: str) -> set[str]:
    return set(_WORD.findall(title.lower())) - _COMMON_WORDS


_WORD: Final = re.compile(r"[a-z0-9]+")
_COMMON_WORDS: Final = frozenset(["agent", "and", "cli", "code", "skills"])
