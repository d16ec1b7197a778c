"""The list of skills in the system prompt of Hermes, for a home of its own."""

import os

import agent.prompt_builder  # type: ignore[import-not-found]


def look(home: str) -> str:
    """Return that part of the prompt."""
    os.environ["HERMES_HOME"] = home
    prompt: str = agent.prompt_builder.build_skills_system_prompt(
        available_tools={"skill_view", "skills_list"}, available_toolsets={"skills"}
    )
    return prompt
