"""What a conversion makes, as values, and what it can be for."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from satchel.model import SKILL_FILE, Finding, worst
from satchel.sources import CLIENT_FOLDERS, ClientFolders
from satchel_lab.authoring._packs import PackDraft
from satchel_lab.clients import Prediction

Dialect: TypeAlias = Literal["strict", "spec"]
DIALECTS: Final[dict[str, Dialect]] = {"strict": "strict", "spec": "spec"}
Status: TypeAlias = Literal["installed", "updated", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one thing that was converted.

    ``source`` is its place as the user wrote it. ``draft`` is None where it was
    refused, and then a finding says why. Errors are about what was refused, warnings
    about what was lost or changed; with notes only nothing was. ``dialect`` is what
    the draft was made for; None for a client.
    """

    source: str
    draft: PackDraft | None
    findings: tuple[Finding, ...] = ()
    dialect: Dialect | None = None

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost, changed or refused."""
        return self.draft is not None and worst(self.findings) in {None, "note"}

    def with_findings(self, findings: Iterable[Finding]) -> "Conversion":
        """Return the conversion with more findings after those that it has."""
        return replace(self, findings=(*self.findings, *findings))

    def refused(self, finding: Finding) -> "Conversion":
        """Return the conversion without a draft, and why there is none."""
        return replace(self, draft=None, findings=(*self.findings, finding))


@dataclass(frozen=True, slots=True)
class ConversionResult:
    """A conversion, and what became of its draft on disk.

    ``path`` is where the pack is, as the user would write it; empty where there is no
    draft. In a rehearsal ``status`` says what would be done.
    """

    conversion: Conversion
    path: str
    status: Status


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


# By name, dialects first; clients in the order of `satchel.sources.CLIENT_FOLDERS`.
TARGETS: Final = {name: ConvertTarget(name, of) for name, of in DIALECTS.items()} | {
    target.name: target for target in map(_of_client, CLIENT_FOLDERS)
}


def predict_client(conversion: Conversion, target: ConvertTarget) -> Conversion:
    """Return the conversion with what is known of the client's own loader.

    A loader is the client's where they have a word of their names in common. Nothing is
    added where nothing is known.
    """
    draft = conversion.draft
    if draft is None or not target.folder:
        return conversion
    from satchel_lab.clients import Candidate, loaders, predict

    own_loaders = [
        loader
        for loader in loaders()
        if loader.kind == "client" and _words(loader.title) & _words(target.client)
    ]
    others = tuple(path for path in draft.files if path != SKILL_FILE)
    candidate = Candidate(draft.skill_md, draft.name, files=others)
    return conversion.with_findings(
        prediction_findings(predict(candidate, own_loaders), conversion.source)
    )


def prediction_findings(
    outcomes: Iterable[Prediction], source: str
) -> Iterator[Finding]:
    """Yield a warning for each loader that loses the pack, a note where it is cut."""
    from satchel_lab.clients import VERDICTS

    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict in {"loaded", "unknown", "hidden"}:
            continue
        is_cut = verdict == "cut"
        yield Finding.of(
            "client-cuts" if is_cut else "client-refuses",
            f"{source}/{SKILL_FILE}",
            severity="note" if is_cut else None,
            sentence="conversion",
            client=outcome.loader.title,
            verdict=VERDICTS[verdict],
            advice=outcome.fix or "see what satchel predict says",
        )


def _words(title: str) -> set[str]:
    return set(_WORD.findall(title.lower())) - _COMMON_WORDS


_WORD: Final = re.compile(r"[a-z0-9]+")
_COMMON_WORDS: Final = frozenset(["agent", "and", "cli", "code", "skills"])
