"""Whether the right skill is found: queries with the skills that should answer them."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.evals._case import EvalCase
    from satchel.evals._grading import (
        GradedIteration as GradedIteration,
        GradedRun as GradedRun,
        read_iteration as read_iteration,
        write_benchmark as write_benchmark,
    )
    from satchel.evals._model import (
        ChatModel as ChatModel,
        ChatReply as ChatReply,
        ChatRequest as ChatRequest,
        ModelBusyError as ModelBusyError,
        ModelDeniedError as ModelDeniedError,
        ModelError as ModelError,
        ToolCallText as ToolCallText,
    )
    from satchel.evals._model_endpoint import ModelEndpoint as ModelEndpoint
    from satchel.evals._trial_report import TrialReport as TrialReport
    from satchel.evals._trial_run import (
        STYLES as STYLES,
        TrialLimits as TrialLimits,
        run_trials,
    )

__all__ = ["EvalCase", "run_trials"]

__getattr__ = lazy_door(
    __name__,
    {
        "_case": "EvalCase",
        "_grading": "GradedIteration GradedRun read_iteration write_benchmark",
        "_model": "ChatModel ChatReply ChatRequest ModelBusyError ModelDeniedError "
        "ModelError ToolCallText",
        "_model_endpoint": "ModelEndpoint",
        "_trial_report": "TrialReport",
        "_trial_run": "STYLES TrialLimits run_trials",
    },
)
