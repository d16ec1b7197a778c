"""The parts of a session, one idea each; `satchel.runtime.session` joins them."""

__all__: list[str] = []
