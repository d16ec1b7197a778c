"""The command line: each command parses, calls the core, and prints what it says.

Commands of other products use what is named below ``main``.
"""

from typing import TYPE_CHECKING

from satchel.cli._app import main as main
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.cli._approval import ask_in_terminal
    from satchel.cli._errors import (
        NoAnswerError as NoAnswerError,
        errors_are_status_2 as errors_are_status_2,
    )
    from satchel.cli._findings import (
        MOST as MOST,
        finding_fields as finding_fields,
        show_finding as show_finding,
        show_findings as show_findings,
    )
    from satchel.cli._options import (
        budget_option as budget_option,
        command_sinks as command_sinks,
        complete_skill as complete_skill,
        name_values as name_values,
        open_named_skills as open_named_skills,
        open_skills as open_skills,
        print_findings as print_findings,
        read_settings as read_settings,
    )
    from satchel.cli._paths import (
        alias_option as alias_option,
        library_options as library_options,
        library_settings as library_settings,
        line_about as line_about,
        named_paths as named_paths,
        named_skills_option as named_skills_option,
        option_paths as option_paths,
        with_alias as with_alias,
    )
    from satchel.cli._terminal import (
        bold as bold,
        color_option as color_option,
        echo as echo,
        echo_always as echo_always,
        echo_error as echo_error,
        echo_json as echo_json,
        echo_problem as echo_problem,
        echo_prose as echo_prose,
        echo_rows as echo_rows,
        echo_table as echo_table,
        flag as flag,
        is_quiet as is_quiet,
        is_verbose as is_verbose,
        json_option as json_option,
        layout as layout,
        on_terminal as on_terminal,
        one_line as one_line,
        progress as progress,
        width as width,
        write_text as write_text,
    )

__all__ = ["ask_in_terminal"]

__getattr__ = lazy_door(
    __name__,
    {
        "_approval": "ask_in_terminal",
        "_errors": "NoAnswerError errors_are_status_2",
        "_findings": "MOST finding_fields show_finding show_findings",
        "_options": "budget_option command_sinks complete_skill name_values "
        "open_named_skills open_skills print_findings read_settings",
        "_paths": "alias_option library_options library_settings line_about "
        "named_paths named_skills_option option_paths with_alias",
        "_terminal": "bold color_option echo echo_always "
        " echo_error echo_json echo_problem echo_prose echo_rows "
        "echo_table flag is_quiet is_verbose json_option layout on_terminal one_line "
        "progress width write_text",
    },
)
