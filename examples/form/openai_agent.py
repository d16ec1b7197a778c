"""Fill in a form with an agent of the OpenAI Agents SDK."""

import steps
from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call
from satchel import Policy, Satchel, allow
from satchel.adapters.openai_agents import attach
from satchel_scripts import Sandbox

script = [
    [function_call(name, arguments, call_id=f"call {number}")]
    for number, (name, arguments) in enumerate(steps.CALLS)
]
model = ScriptedModel([*script, [assistant_message(steps.ANSWER)]])

skills = Satchel(
    "../skills",
    policy=Policy(allow("pdf-forms", "script")),
    runner=Sandbox(python="form-env", timeout_s=60),
)
desk = Agent(name="desk", model=model)
agent = attach(skills, to=desk, work=lambda run: f"work/{run.context['user']}")
config = RunConfig(tool_not_found_behavior="return_error_to_model")
result = Runner.run_sync(agent, steps.TASK, context={"user": "ana"}, run_config=config)

checked = result.new_items[-2]  # what the last call returned
print(checked.output)
print(result.final_output)
