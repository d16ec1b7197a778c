"""Asynchronous tests run in an event loop of their own, for at most 20 seconds."""

import asyncio
import inspect
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest


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
