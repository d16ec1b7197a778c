"""Asynchronous tests run in an event loop of their own, for at most 20 seconds."""

import asyncio
import inspect
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager

import pytest
import uvicorn
from starlette.types import ASGIApp


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """Serve an application on a free port, in a thread; give its URL."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run one, with what its fixtures that are asynchronous contexts give."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None

    async def run() -> None:
        async with AsyncExitStack() as stack:
            values = {
                name: pyfuncitem.funcargs[name]
                for name in inspect.signature(test).parameters
            }
            for name, value in values.items():
                if isinstance(value, AbstractAsyncContextManager):
                    values[name] = await stack.enter_async_context(value)
            await test(**values)

    asyncio.run(asyncio.wait_for(run(), 20))
    return True
