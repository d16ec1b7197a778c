"""What handlers do in a thread ends for a client that goes away."""

from threading import Event

import anyio
import pytest

from satchel.server._mcp._request import in_thread


@pytest.mark.row("F41")
def test_nobody_waits_for_work_whose_client_has_gone() -> None:
    begun, go, ended = Event(), Event(), Event()

    def work() -> None:
        begun.set()
        go.wait(10)
        ended.set()

    async def main() -> bool:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(in_thread, work)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
        waited = ended.is_set()
        go.set()
        return waited

    assert not anyio.run(main)
