"""What there is to tell of an index and of what it leads to, for one wording of it."""

from satchel.errors import SkillError
from satchel.model import Finding, Severity

__all__ = [
    "and_more",
    "bad_entry",
    "misnamed",
    "more_failed",
    "no_digests",
    "not_fetched",
    "odd_entry",
    "partial",
    "stale",
    "too_many",
    "unknown_schema",
]


def bad_entry(
    where: str, number: int, message: str, fix: str, severity: Severity
) -> Finding:
    """An entry that is not used."""
    said = f"skills[{number}]: {message}"
    return Finding("index-entry", severity, said, where, fix=fix)


def odd_entry(where: str, number: int, name: str, message: str) -> Finding:
    """An entry that is used, and that other clients may drop."""
    said = f"skills[{number}]: {name}: {message}; other clients may skip it"
    fix = "describe the skill in 1 to 1,024 characters"
    return Finding("index-entry", "warning", said, where, fix=fix)


def misnamed(where: str, found: str, wanted: str) -> Finding:
    """A field of the index itself that has another name."""
    said = f"there is no {wanted}, but a field {found!r}; read as v0.1.0"
    fix = f"call the field {wanted!r}"
    return Finding("index-entry", "warning", said, where, fix=fix)


def and_more(where: str, count: int) -> Finding:
    """What else there would be to tell of an index."""
    said = f"{count:,} more findings on this index are not told"
    return Finding("index-entry", "warning", said, where, fix="mend those first")


def unknown_schema(where: str, found: object, wanted: str) -> Finding:
    """An index of a format that nobody here knows."""
    said = f"the format {str(found)[:120]!r} is unknown, so that nothing is read of it"
    fix = f"update satchel; or, if it is yours, write {wanted!r}"
    return Finding("index-schema", "warning", said, where, fix=fix)


def too_many(where: str, message: str) -> Finding:
    """An index that was not read to its end."""
    fix = "publish several indexes, or raise the limit that is named"
    return Finding("limit-exceeded", "error", message, where, fix=fix)


def no_digests(where: str) -> Finding:
    """An index of v0.1.0: nothing says which bytes its publisher meant."""
    return Finding(
        "no-digest",
        "warning",
        "an index of v0.1.0 announces no digests: the bytes that came first hold until "
        "the next sync, and nobody can tell whether they are the publisher's",
        where,
        fix="ask its publisher for an index of v0.2.0, or for a release to pin",
    )


def partial(where: str, missing: int, total: int) -> Finding:
    """A site that was not fetched whole in the time that there was."""
    said = f"{missing:,} of {total:,} skills were not fetched in time"
    fix = "nothing: the next sync goes on from there"
    return Finding("partial-listing", "warning", said, where, fix=fix)


def more_failed(where: str, count: int) -> Finding:
    """More skills that cannot be used, beyond those that are told one by one."""
    said = f"{count:,} more skills cannot be used as they are listed"
    return Finding("index-entry", "error", said, where, fix="tell the publisher")


def not_fetched(where: str, error: SkillError) -> Finding:
    """A skill that is not there, because what the index leads to cannot be used."""
    fix = "sync again later; if it stays, tell the publisher"
    return Finding(error.code, "error", str(error), where, fix=fix)


def stale(where: str, error: SkillError) -> Finding:
    """A skill that is served as it was, because the newer one cannot be used."""
    return Finding(
        "stale-skill",
        "warning",
        f"it is served as it was at an earlier sync: {error}",
        where,
        fix="sync again later; if it stays, tell the publisher",
    )
