"""Every rule, in the order in which they are asked."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from satchel.lint._context import LintContext, LintRule
from satchel.lint._rules.allowed_tools_form import allowed_tools_form
from satchel.lint._rules.argument_in_code import argument_in_code
from satchel.lint._rules.backslash_path import backslash_path
from satchel.lint._rules.body_too_large import body_too_large
from satchel.lint._rules.byte_order_mark import byte_order_mark
from satchel.lint._rules.client_envelope import client_envelope
from satchel.lint._rules.client_only_field import client_only_field
from satchel.lint._rules.client_only_syntax import client_only_syntax
from satchel.lint._rules.conflict_marker import conflict_marker
from satchel.lint._rules.dead_anchor import dead_anchor
from satchel.lint._rules.dead_link import dead_link
from satchel.lint._rules.declared_files import declared_files
from satchel.lint._rules.description_comment_cut import description_comment_cut
from satchel.lint._rules.description_lacks_when import description_lacks_when
from satchel.lint._rules.description_late_point import description_late_point
from satchel.lint._rules.description_limits import description_limits
from satchel.lint._rules.description_lines import description_lines
from satchel.lint._rules.description_markup import description_markup
from satchel.lint._rules.empty_body import empty_body
from satchel.lint._rules.impossible_date import impossible_date
from satchel.lint._rules.interactive_script import interactive_script
from satchel.lint._rules.json_syntax import json_syntax
from satchel.lint._rules.large_reference import large_reference
from satchel.lint._rules.left_to_fill_in import left_to_fill_in
from satchel.lint._rules.license_file_missing import license_file_missing
from satchel.lint._rules.long_description import long_description
from satchel.lint._rules.machine_path import machine_path
from satchel.lint._rules.mentioned_file_missing import mentioned_file_missing
from satchel.lint._rules.metadata_scalars import metadata_scalars
from satchel.lint._rules.missing_h1 import missing_h1
from satchel.lint._rules.name_not_portable import name_not_portable
from satchel.lint._rules.pack_too_large import pack_too_large
from satchel.lint._rules.python_syntax import python_syntax
from satchel.lint._rules.readable import readable
from satchel.lint._rules.reference_not_mentioned import reference_not_mentioned
from satchel.lint._rules.script_line_ends import script_line_ends
from satchel.lint._rules.sensitive_pattern import sensitive_pattern
from satchel.lint._rules.shell_syntax import shell_syntax
from satchel.lint._rules.skipped_heading import skipped_heading
from satchel.lint._rules.spec_incompatible import spec_incompatible
from satchel.lint._rules.suspicious_content import suspicious_content
from satchel.lint._rules.tab_behind_colon import tab_behind_colon
from satchel.lint._rules.unclosed_fence import unclosed_fence
from satchel.lint._rules.undefined_link import undefined_link
from satchel.lint._rules.unlimited_shell import unlimited_shell
from satchel.lint._rules.unlisted_reference import unlisted_reference
from satchel.lint._rules.unpinned_command import unpinned_command
from satchel.model import Finding

RULES: Final[tuple[LintRule, ...]] = (
    declared_files,
    readable,
    byte_order_mark,
    tab_behind_colon,
    unlisted_reference,
    reference_not_mentioned,
    mentioned_file_missing,
    sensitive_pattern,
    conflict_marker,
    left_to_fill_in,
    suspicious_content,
    client_envelope,
    name_not_portable,
    spec_incompatible,
    metadata_scalars,
    impossible_date,
    client_only_field,
    license_file_missing,
    allowed_tools_form,
    unlimited_shell,
    long_description,
    description_limits,
    description_lacks_when,
    description_late_point,
    description_comment_cut,
    description_markup,
    description_lines,
    empty_body,
    body_too_large,
    missing_h1,
    skipped_heading,
    unclosed_fence,
    undefined_link,
    dead_link,
    dead_anchor,
    client_only_syntax,
    argument_in_code,
    unpinned_command,
    machine_path,
    backslash_path,
    python_syntax,
    shell_syntax,
    json_syntax,
    script_line_ends,
    interactive_script,
    large_reference,
    pack_too_large,
)


def lint_pack(
    pack: LintContext, rules: Iterable[LintRule] | None = None
) -> Iterator[Finding]:
    """Yield what rules have to say of a pack, by default all; paths relative to it."""
    for rule in RULES if rules is None else rules:
        yield from rule(pack)


def rules_for(asks: Callable[[LintRule], bool]) -> tuple[LintRule, ...]:
    """Return the rules for which ``asks`` says yes."""
    return tuple(filter(asks, RULES))
