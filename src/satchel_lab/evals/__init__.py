"""Whether the right skill is found: queries with the skills that should answer them.

Cases are read from eval files in any of the public shapes, and routed as `find` does,
without a model. `satchel_lab.checking.run_evals` does both for folders of packs.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.evals._adding import (
        NEW_FILE as NEW_FILE,
        new_evals as new_evals,
        with_case as with_case,
    )
    from satchel_lab.evals._dialects import EvalCase
    from satchel_lab.evals._files import (
        EvalFile as EvalFile,
        PassedOver as PassedOver,
        is_eval_file as is_eval_file,
        is_eval_path as is_eval_path,
        named_files as named_files,
        pack_files as pack_files,
        read_evals as read_evals,
    )
    from satchel_lab.evals._grading import read_iteration, write_benchmark
    from satchel_lab.evals._library import EvalLibrary as EvalLibrary
    from satchel_lab.evals._model_endpoint import ModelEndpoint
    from satchel_lab.evals._report import (
        EvalReport as EvalReport,
        compared as compared,
        evaluate as evaluate,
        outcomes_of as outcomes_of,
        read_eval_baseline as read_eval_baseline,
    )
    from satchel_lab.evals._reporters import (
        EvalFormat as EvalFormat,
        render_eval as render_eval,
    )
    from satchel_lab.evals._shadows import (
        hidden_skills as hidden_skills,
        moved_queries as moved_queries,
    )
    from satchel_lab.evals._suggestions import (
        Suggestion as Suggestion,
        suggest as suggest,
    )
    from satchel_lab.evals._trial_answers import (
        ChatReply,
        ModelBusyError as ModelBusyError,
        ModelDeniedError as ModelDeniedError,
        ModelError as ModelError,
        ToolCallText,
    )
    from satchel_lab.evals._trial_run import STYLES as STYLES, TrialLimits, run_trials

__all__ = [
    "ChatReply",
    "EvalCase",
    "ModelEndpoint",
    "ToolCallText",
    "TrialLimits",
    "read_iteration",
    "run_trials",
    "write_benchmark",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_adding": "NEW_FILE new_evals with_case",
        "_dialects": "EvalCase",
        "_files": "EvalFile PassedOver is_eval_file is_eval_path named_files "
        "pack_files read_evals",
        "_grading": "read_iteration write_benchmark",
        "_library": "EvalLibrary",
        "_model_endpoint": "ModelEndpoint",
        "_report": "EvalReport compared evaluate outcomes_of read_eval_baseline",
        "_reporters": "EvalFormat render_eval",
        "_shadows": "hidden_skills moved_queries",
        "_suggestions": "Suggestion suggest",
        "_trial_answers": "ChatReply ModelBusyError ModelDeniedError ModelError "
        "ToolCallText",
        "_trial_run": "STYLES TrialLimits run_trials",
    },
)
