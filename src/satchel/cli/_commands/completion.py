"""``satchel completion``."""

import click

from satchel.cli._terminal import echo

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_SATCHEL_COMPLETE"


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that lets a shell complete commands, options, skills and codes.

    SHELL is bash, zsh or fish.

    \b
    Examples:
      eval "$(satchel completion bash)"        # in ~/.bashrc
      eval "$(satchel completion zsh)"         # in ~/.zshrc
      satchel completion fish | source         # in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for {shell}")
    app = click.get_current_context().find_root().command
    echo(kind(app, {}, "satchel", VARIABLE).source().strip())
