"""Why a skill is not in the prompt: the first reason, with its fix."""

from dataclasses import dataclass
from typing import Final, Literal, cast

from satchel.model import Catalog, Decision, Excluded, Rendered

Stage = Literal[
    "source",
    "path",
    "parse",
    "profile",
    "trust",
    "policy",
    "disabled",
    "shadowed",
    "conflict",
    "filtered",
    "deprecated",
    "hidden",
    "budget",
    "listed",
]

# By reason of an exclusion; the others are called as their stage is.
_STAGES: Final[dict[str, Stage]] = {"refused": "parse", "untrusted": "trust"}


@dataclass(frozen=True, slots=True)
class Why:
    """The first stage that a skill did not pass; ``listed`` where it passed all."""

    name: str
    stage: Stage
    message: str
    fix: str = ""
    path: str = ""

    def __str__(self) -> str:
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{self.name}: {self.stage}: {self.message}{fix}"


def why(
    catalog: Catalog,
    name: str,
    prompt: Rendered,
    *,
    exacting: bool,
    decision: Decision,
) -> Why:
    """Return the first reason why ``name`` is not in ``prompt``.

    ``name`` is an id, a manifest's name, or the name of a pack's folder. ``exacting``
    says that a profile narrower than ``auto`` was chosen. ``decision`` is what the
    policy says of listing it.
    """
    entry = catalog.get(name)
    if entry is not None and decision.verdict == "deny":
        denied = f"the policy denies listing it without a `who` ({decision.reason})"
        fix = "change the policy; a session with a `who` may list it"
        return Why(name, "policy", denied, fix, entry.origin.location)
    if entry is not None:
        return _listed(name, entry.origin.location, prompt)
    conflict = catalog.conflict_of(name)
    if conflict is not None:
        path = conflict.owners[0].origin.location
        claim = f"{conflict.places} claim this id"
        return Why(name, "conflict", claim, conflict.fix, path)
    for excluded in catalog.excluded:
        if _has_name(excluded, name):
            return _excluded(name, excluded, exacting=exacting)
    return _unknown(catalog, name)


def _listed(name: str, path: str, prompt: Rendered) -> Why:
    tokens = f"{prompt.budget_tokens} tokens"
    if name in prompt.left_out:
        why = f"the catalog does not fit {tokens}; this one is cut"
        fix = "raise budget_tokens, or let the model search"
        return Why(name, "budget", why, fix, path)
    if name in prompt.names_only or name in prompt.shortened:
        is_bare = name in prompt.names_only
        how = "only its name" if is_bare else "a shortened description"
        why = f"it is listed with {how}, for {tokens}"
        fix = "raise budget_tokens, or shorten descriptions"
        return Why(name, "budget", why, fix, path)
    return Why(name, "listed", "it is in the prompt, whole", path=path)


def _has_name(excluded: Excluded, name: str) -> bool:
    descriptor = excluded.descriptor
    folder = descriptor.origin.location.rstrip("/").rpartition("/")[2]
    return name in (descriptor.id, descriptor.name, folder)


def _excluded(name: str, excluded: Excluded, *, exacting: bool) -> Why:
    stage = _STAGES.get(excluded.reason, cast("Stage", excluded.reason))
    if stage == "parse" and exacting:
        stage = "profile"
    location = excluded.descriptor.origin.location
    return Why(name, stage, excluded.detail, excluded.fix, location)


def _unknown(catalog: Catalog, name: str) -> Why:
    # A folder that was passed over has a finding and no descriptor.
    for finding in catalog.findings:
        if name in finding.path.split("/"):
            return Why(name, "path", str(finding), finding.fix, finding.path)
    for state in catalog.sources:
        if state.stale:
            away = f"source {state.label!r} did not answer ({state.error})"
            fix = "see `satchel doctor`; sync again when it is back"
            return Why(name, "source", away, fix)
    from satchel.text import nearest

    close = nearest(name, [entry.id for entry in catalog.entries], 3)
    looked = ", ".join(state.label for state in catalog.sources) or "no source"
    fix = f"did you mean {', '.join(close)}?" if close else "add its folder as a source"
    return Why(name, "path", f"no pack of this name in {looked}", fix)
