"""Fill in a form with an agent of LangChain."""

from dataclasses import dataclass

import steps
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from satchel import Policy, Satchel, allow
from satchel.adapters.langchain import attach
from satchel_scripts import Sandbox


class ScriptedModel(FakeMessagesListChatModel):
    def bind_tools(self, tools, **_):
        return self


@dataclass
class Context:
    user: str


script = [
    AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call {number}"}])
    for number, (name, args) in enumerate(steps.CALLS)
]
model = ScriptedModel(responses=[*script, AIMessage(steps.ANSWER)])

skills = Satchel(
    "../skills",
    policy=Policy(allow("pdf-forms", "script")),
    runner=Sandbox(python="form-env", timeout_s=60),
)
middleware = attach(skills, work=lambda run: f"work/{run.context.user}")
agent = create_agent(model, middleware=[middleware], context_schema=Context)
messages = {"messages": [("user", steps.TASK)]}
result = agent.invoke(messages, context=Context("ana"))

filled = result["messages"][-4]  # the message of the tool, with what it made
for file in filled.artifact["files"]:
    print(file["path"], file["media_type"])
print(result["messages"][-1].text)
