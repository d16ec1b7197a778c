"""Style `agent-skills`: a skill in its `<skill_context>` envelope."""

from collections.abc import Iterator, Sequence
from typing import Final

from satchel.errors import (
    ApprovalDeclinedError,
    ApprovalNeededError,
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    LimitExceededError,
    PackFileError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    echo,
)
from satchel.load._wording import (
    DEFAULT_STYLE_OPTIONS,
    Escape,
    StyleOptions,
    folder_notes,
    model_message,
)
from satchel.model import Descriptor, Loaded, Style
from satchel.text import escape_xml, printable

MAX_LISTED: Final = 200
"""Files that an envelope names; beyond them it says how many more there are."""

_DIRECTIVE: Final = """\
  <execution_directive>
    You are now operating under the specialized {} protocol.
    1. Prioritize the logic in <instructions> over generic behavior.
    2. Use the data in <active_resources> to complete the user's specific request.
    3. If the workflow is multi-step, explicitly state your plan before executing.
  </execution_directive>
"""


def render_context(
    loaded: Loaded,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    notes: Sequence[str] = (),
    *,
    style: Style = "agent-skills",
) -> str:
    """Return a loaded SKILL.md in the envelope, byte-stable, no line feed at its end.

    The text stands in it as it is, unless ``options.escape`` says otherwise; one line
    feed is added where it ends in none. Notes, those of the load
    before the further ones, stand outside ``<instructions>``. ``style`` is that of the
    tools with which the reader gets the files.
    """
    id = _shown(loaded.id)
    text = loaded.text if options.content == "file" else loaded.body
    text = _escape(text, options.escape)
    end = "" if text.endswith("\n") else "\n"
    resources = ""
    if options.envelope == "extended":
        resources = _resources(loaded.descriptor, show_root=options.show_root)
    said = (*loaded.notes, *folder_notes(loaded, options, style), *notes)
    lines = "".join(f"    {_shown(note)}\n" for note in said)
    noted = f"\n  <notes>\n{lines}  </notes>\n" if lines else ""
    return (
        f'<skill_context id="{id}">\n  <instructions>\n{text}{end}  </instructions>\n\n'
        f"{resources}{_DIRECTIVE.format(id)}{noted}</skill_context>"
    )


def render_context_note(skill_id: str, *notes: str) -> str:
    """Return the envelope that holds nothing but notes, one a line."""
    lines = "".join(f"  <note>{_shown(note)}</note>\n" for note in notes)
    return f'<skill_context id="{_shown(skill_id)}">\n{lines}</skill_context>'


def render_context_error(
    error: SkillError, skill_id: str, advice: str | None = None
) -> str:
    """Return the envelope that says why ``skill_id`` was not loaded.

    What a person said with a no, and ``advice``, are lines behind the envelope.
    """
    id = _shown(echo(skill_id))
    words = error.words if isinstance(error, ApprovalDeclinedError) else ""
    said = (f"The user says: {words}" if words else "", advice or "")
    more = "".join(f"\n{_shown(line)}" for line in said if line)
    return (
        f'<skill_context id="{id}">\n  <error>\n    {_sentence(error, id)}\n'
        f"  </error>\n</skill_context>{more}"
    )


def _sentence(error: SkillError, id: str) -> str:
    if isinstance(error, SkillNotFoundError):
        return f'Skill with id "{id}" was not found in the current registry.'
    if isinstance(error, SkillExcludedError) and error.reason == "disabled":
        how = "is disabled by current system settings"
        return f'Skill "{id}" {how} and cannot be loaded.'
    if isinstance(error, DeniedError):
        return f"{_refusal(error, id)} Skill instructions were not loaded."
    if isinstance(error, ReferenceUnreadableError):
        reason = error.detail or model_message(error)
    elif isinstance(error, ChangedSinceSyncError):
        reason = "the file has changed since it was catalogued"
    elif isinstance(error, DigestMismatchError):
        reason = "the file is not what was announced"
    elif isinstance(error, PackFileError):
        reason = "the file is missing"
    elif isinstance(error, LimitExceededError):
        reason = model_message(error)
    else:
        return _shown(model_message(error))
    return f'Failed to load SKILL.md for "{id}": {_shown(reason)}'


def _refusal(error: DeniedError, id: str) -> str:
    if isinstance(error, ApprovalDeclinedError):
        return f'User declined HITL approval for skill "{id}".'
    if isinstance(error, ApprovalNeededError):
        return f'Skill "{id}" needs an approval, and nobody could be asked.'
    return f'Skill "{id}" is not allowed here.'


def _resources(descriptor: Descriptor, *, show_root: bool) -> str:
    """Return the names of the pack's files, to be read one by one; or nothing."""
    named = list(_named(descriptor))
    if not named:
        return ""
    lines = [
        f"    <{kind}>{_shown(path)}</{kind}>\n" for kind, path in named[:MAX_LISTED]
    ]
    if show_root:
        root = _shown(descriptor.origin.location)
        lines.insert(0, f"    <skill_root>{root}</skill_root>\n")
    if len(named) > MAX_LISTED:
        lines.append(f'    <more files="{len(named) - MAX_LISTED}"/>\n')
    return f"  <active_resources>\n{''.join(lines)}  </active_resources>\n\n"


def _named(descriptor: Descriptor) -> Iterator[tuple[str, str]]:
    for kind, paths in (
        ("reference", descriptor.references),
        ("script", descriptor.scripts),
        ("asset", descriptor.assets),
        ("file", descriptor.others),
    ):
        for path in paths:
            yield kind, path


def _escape(text: str, how: Escape) -> str:
    match how:
        case "raw":
            return text
        case "cdata":
            # A section cannot hold its own end, so that end is cut in two sections.
            return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"
        case "entities":
            return escape_xml(text)


def _shown(text: str) -> str:
    return escape_xml(printable(text, keep=""), quotes=True)
