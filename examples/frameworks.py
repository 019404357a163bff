"""frameworks.py - what frameworks mark, without a change of the program: logging, asyncio tasks, NVTX; PyTorch where it is installed.

    strobe record -o frameworks.strobe -- python examples/frameworks.py
    strobe csv --kind messages frameworks.strobe
"""
import asyncio
import logging

try:
    import nvtx  # NVIDIA's, or the one that comes with Strobe
except ImportError:
    nvtx = None

log = logging.getLogger("example")


async def fetch(number):
    await asyncio.sleep(0.002 * number)
    log.info("fetched %d", number)


async def fetch_all():
    await asyncio.gather(*[fetch(number) for number in range(4)])


def compute():
    for step in range(3):
        with nvtx.annotate("step", domain="compute", payload=step):
            sum(range(20000))


def train():
    """Ranges of PyTorch's own: nothing here speaks of Strobe."""
    import torch
    from torch.profiler import record_function

    model = torch.nn.Linear(64, 64)
    for _ in range(3):
        with record_function("forward"):
            loss = model(torch.ones(8, 64)).sum()
        with record_function("backward"):
            loss.backward()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(fetch_all())
    if nvtx:
        compute()
    try:
        train()
    except ImportError:
        log.warning("PyTorch is not installed")
