"""The sentences that a model reads in place of what failed."""

from typing import Final

from satchel import errors
from satchel.load._wording import MAX_NAMED
from satchel.model import DEFAULT_LIMITS, Catalog
from satchel.text import clean_line, escape_xml, printable

# The call for one missing id in a turn whose answer says that it is the last one.
FINAL_ATTEMPT: Final = 3


def not_staged_note(error: errors.SkillError) -> str:
    """Return why a skill's files have no folder here, without a path of the machine."""
    detail = model_message(error)
    if isinstance(error, errors.NotStagedError):
        detail = error.detail
    return f"The files of this skill were not staged: {detail}."


def model_message(error: errors.SkillError) -> str:
    """Return the error's message as far as a model may read it."""
    # Origins and sources may be absolute paths or addresses, and a fix is for the user:
    # these errors are described without. All others carry pack-relative paths only.
    if isinstance(error, errors.SkillNotFoundError):
        return f"skill {errors.echo(error.name)!r} not found"
    if isinstance(error, errors.SkillExcludedError):
        return (
            f"skill {errors.echo(error.name)!r} is {error.reason} and cannot be loaded"
        )
    if isinstance(error, errors.DuplicateSkillError):
        return (
            f"several packs claim the skill {error.skill_name!r}; none of them is "
            "handed out"
        )
    if isinstance(error, errors.SourceUnavailableError):
        return "the source of the skill does not answer now; try again later"
    # What to install is for the user.
    if isinstance(error, errors.ExtraMissingError | errors.ProductMissingError):
        return f"{error.what} is not available here"
    return printable(str(error))


def error_result(
    error: errors.SkillError, advice: str | None = None
) -> dict[str, object]:
    """Return the structured result for an error; ``advice`` is one more sentence."""
    message = model_message(error)
    message = f"{message}. {advice}" if advice else message
    return {"error": {"code": error.code, "message": message}}


def load_error(error: errors.SkillError, id: str) -> str:
    """Return why instructions were not loaded, as the style ``agent-skills`` says it.

    ``id`` is escaped already.
    """
    if isinstance(error, errors.SkillNotFoundError):
        return f'Skill with id "{id}" was not found in the current registry.'
    if isinstance(error, errors.SkillExcludedError) and error.reason == "disabled":
        how = "is disabled by current system settings"
        return f'Skill "{id}" {how} and cannot be loaded.'
    if isinstance(error, errors.DeniedError):
        return f"{_denied(error, id)} Skill instructions were not loaded."
    if isinstance(error, errors.ReferenceUnreadableError):
        reason = error.detail or model_message(error)
    elif isinstance(error, errors.ChangedSinceSyncError):
        reason = "the file has changed since it was catalogued"
    elif isinstance(error, errors.DigestMismatchError):
        reason = "the file is not what was announced"
    elif isinstance(error, errors.PackFileError):
        reason = "the file is missing"
    elif isinstance(error, errors.LimitExceededError):
        reason = model_message(error)
    else:
        return escaped(model_message(error))
    return f'Failed to load SKILL.md for "{id}": {escaped(reason)}'


def _denied(error: errors.DeniedError, id: str) -> str:
    if isinstance(error, errors.ApprovalDeclinedError):
        return f'User declined HITL approval for skill "{id}".'
    if isinstance(error, errors.ApprovalNeededError):
        return f'Skill "{id}" needs an approval, and nobody could be asked.'
    return f'Skill "{id}" is not allowed here.'


def words_of_no(error: errors.SkillError) -> str:
    """Return the words of a person's no, as a line for the model; empty for none."""
    words = error.words if isinstance(error, errors.ApprovalDeclinedError) else ""
    return f"The user says: {words}" if words else ""


def escaped(text: str) -> str:
    """Return a text as one that no envelope of a skill ends with."""
    return escape_xml(printable(text, keep=""), quotes=True)


def replacement_advice(error: errors.SkillError, catalog: Catalog) -> str:
    """Return the sentence that names the replacement of a skill that is gone."""
    if not isinstance(error, errors.SkillNotFoundError):
        return ""
    # Only what this catalog lists is named: what the caller may see.
    replacement = catalog.replacement_of(error.name)
    if not replacement:
        return ""
    return f"The skill {clean_line(replacement)} takes its place: load it."


def not_found_advice(
    error: errors.SkillError, not_found: int, same: int, catalog: Catalog
) -> str:
    """Return the sentence behind an error about something that is not there.

    The first one of a turn says nothing more, the next ones what could be asked for,
    and the third one about the same thing says that it is the last. ``not_found``
    counts such errors of this turn, ``same`` those about the same id and file, this one
    included.
    """
    if same >= FINAL_ATTEMPT:
        return (
            f"This was not found {same} times: the answer is final, do not ask for it "
            "again. Go on without it, or tell the user what is missing."
        )
    name = error.name if isinstance(error, errors.SkillNotFoundError) else ""
    if isinstance(error, errors.SkillNotFoundError) and error.close:
        from satchel.text import folded

        alike = [i for i in error.close if i in catalog and folded(i) == folded(name)]
        if alike:
            return f"The id is exactly {' or '.join(map(clean_line, alike))}."
    replacement = replacement_advice(error, catalog)
    # The message of this one lists the files itself.
    lists_files = isinstance(error, errors.ReferenceNotAllowedError)
    if not_found <= 1 or replacement or lists_files:
        return replacement
    ids = _nearest(name, [entry.id for entry in catalog.entries])
    more = len(catalog) - len(ids)
    rest = f", and {more} more" if more > 0 else ""
    return f"Valid ids: {', '.join(map(clean_line, ids))}{rest}."


def _nearest(name: str, ids: list[str]) -> list[str]:
    if len(ids) <= MAX_NAMED:
        return ids
    from satchel.text import nearest

    return (
        nearest(name[: DEFAULT_LIMITS.name_chars], ids, MAX_NAMED, 0.3)
        or ids[:MAX_NAMED]
    )
