"""Decorating with a zone: functions, generator functions, coroutine functions, async generators."""
import functools
import inspect

from strobe import _strobe


def _zone_for(zone, function):
    if zone is not None:
        return zone
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or repr(function)
    if code is None:
        return _strobe.zone(name)
    return _strobe.zone(name, 0, code.co_filename, code.co_firstlineno, name)


def decorate(zone, function):
    """`function` with a zone around each call; of generators, around each resume; of coroutines, a span."""
    zone = _zone_for(zone, function)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run(*args, **kwargs):
            async with zone:
                return await function(*args, **kwargs)

    elif inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def run(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.asend, None
            async with zone:
                while True:
                    try:
                        item = await send(value)
                    except StopAsyncIteration:
                        return
                    try:
                        send, value = generator.asend, (yield item)
                    except GeneratorExit:
                        await generator.aclose()
                        raise
                    except BaseException as error:
                        send, value = generator.athrow, error

    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def run(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            while True:
                with zone:
                    try:
                        item = send(value)
                    except StopIteration as end:
                        return end.value
                try:
                    send, value = generator.send, (yield item)
                except GeneratorExit:
                    with zone:
                        generator.close()
                    raise
                except BaseException as error:
                    send, value = generator.throw, error

    else:

        @functools.wraps(function)
        def run(*args, **kwargs):
            with zone:
                return function(*args, **kwargs)

    return run
