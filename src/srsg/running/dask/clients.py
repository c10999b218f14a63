"""Connections to schedulers, and errors for a cluster that fails or is missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from srsg.files.errors import needed

PATIENCE = 10
"""Seconds to wait for a scheduler to answer."""

_connections: dict[str, Any] = {}
"""Clients by the addresses of their schedulers, kept for the next fit."""


class ClusterError(ConnectionError):
    """The Dask cluster cannot go on with the work; the message says what to do."""


def needed_dask() -> Any:
    """The library ``distributed``, or a one-line error that says how to get it."""
    return needed("distributed", "A Dask cluster needs dask and distributed", "dask")


def answer_within(client: Any, seconds: float, ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer of a method of the client, with a time limit.

    The connection to a stopped scheduler does not break as long as its machine runs: without a
    limit the client would wait forever.
    """

    async def answer() -> Any:
        return await ask()  # in the client's event loop its methods can be awaited

    try:
        return client.sync(answer, callback_timeout=seconds)
    except TimeoutError as error:
        raise ClusterError(
            f"The Dask scheduler at {client.scheduler.address} has not answered for "
            f"{seconds:.0f} s. Check whether it still runs; with store= the work done so far "
            "is kept."
        ) from error


def client_of(choice: Any) -> Any:
    """The client for ``engine=``: a given client, the current one, or one by address."""
    distributed = needed_dask()
    if choice == "dask":
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ClusterError(
                'engine="dask" finds no Dask client. Create one first with distributed.Client(), '
                "or set engine to a client or to the address of its scheduler."
            ) from error
    if isinstance(choice, str):
        return _connected(distributed, choice)
    if not isinstance(choice, distributed.Client) or choice.asynchronous:
        raise TypeError(
            f"engine must be a distributed.Client that is not asynchronous, got {choice!r}."
        )
    return choice


def _connected(distributed: Any, address: str) -> Any:
    if "://" not in address:
        raise ValueError(
            f'engine={address!r} is neither "threads" nor "dask" nor the address of a Dask '
            "scheduler such as tcp://127.0.0.1:8786."
        )
    client = _connections.get(address)
    if client is None or client.status != "running":
        try:
            client = distributed.Client(address, set_as_default=False, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ClusterError(f"No Dask scheduler answers at {address}.") from error
        _connections[address] = client
    return client
