"""Fill in a form with a loop of your own."""

import steps
from satchel import Policy, Satchel, allow
from satchel_scripts import Sandbox

skills = Satchel(
    "../skills",
    policy=Policy(allow("pdf-forms", "script")),
    runner=Sandbox(python="form-env", timeout_s=60),
)
chat = skills.session(work="work/ana")
for name, arguments in steps.CALLS:
    result = chat.call(name, arguments)
print(result)
