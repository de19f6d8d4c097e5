"""The object store on MinIO or any other S3 endpoint (the SDK blocks: it runs in threads)."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.commonconfig import ENABLED, Filter
from minio.error import S3Error
from minio.lifecycleconfig import Expiration, LifecycleConfig, Rule
from urllib3 import BaseHTTPResponse

from caliper.adapters.keys import checked, checked_prefix, too_long
from caliper.adapters.stores.s3_trouble import told_apart
from caliper.adapters.trust import trusting
from caliper.core.errors import InvalidInput

_TRIES = 3
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PAGE = 1000
_NOTHING = frozenset({"NoSuchKey", "XMinioParentIsObject"})
# Days until objects under a prefix may go. A snapshot of the aggregator is of use as long as the
# topics reach back to it, and their retention is 14 days. All else must last: job objects answer
# what was asked before, and runs rest on plans, captions, media and verdicts.
EXPIRE = {"aggregator/snapshot-": 14}

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """Where the store is and how long to wait for it.

    `url` is the endpoint, such as `https://minio:9000`. `patience`: seconds that a call waits
    for answers at the most, over all its tries. `at_once`: calls at the same time. `ca`: PEM
    file of certificates to trust, over https, instead of those that this machine trusts.
    """

    url: str
    bucket: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    patience: float = 15.0
    at_once: int = 16
    ca: Path | None = None

    def connections(self) -> urllib3.PoolManager:
        """Connections for a client, none of them opened yet. Raises InvalidInput for a CA file
        that cannot be used.
        """
        secure = self.url.lower().startswith("https:")
        each = self.patience / _TRIES
        return urllib3.PoolManager(
            maxsize=self.at_once,
            timeout=urllib3.Timeout(connect=min(2.0, each), read=each),
            # Writing an object twice is writing it once: every call may be tried again.
            retries=urllib3.Retry(
                total=_TRIES - 1,
                backoff_factor=0.1,
                status_forcelist=(500, 502, 503, 504),
                raise_on_status=False,
            ),
            ssl_context=trusting(self.ca) if secure else None,
        )

    def client(self, pool: urllib3.PoolManager) -> Minio:
        """A client whose connections are the pool's: whoever makes one clears it in the end.

        Raises InvalidInput, with the field `url`, for a URL that is no endpoint, which never
        repeats it: it may hold a secret.
        """
        wrong = "not the endpoint of an object store; expected http(s)://host[:port]"
        try:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
                raise InvalidInput(wrong, field="url")
            return Minio(
                parts.netloc,
                access_key=self.access_key,
                secret_key=self.secret_key,
                secure=parts.scheme == "https",
                region=self.region,
                http_client=pool,
            )
        except ValueError as error:
            # The client's own words: a user in the URL, a port that cannot be.
            raise InvalidInput(f"{wrong} ({error!s:.60})", field="url") from None


class MinioStore:
    """ports.storage.ObjectStore in a bucket that is there: see `apply_storage`.

    What is no key raises InvalidInput.
    """

    def __init__(self, access: StoreAccess) -> None:
        self._connections = access.connections()
        self._client = access.client(self._connections)
        self._bucket = access.bucket
        self._threads = ThreadPoolExecutor(access.at_once, thread_name_prefix="store")

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes, or the content of a file with a part in memory at a time: whole or not at
        all, acknowledged by the server when this returns.

        Raises StoreFull when the server or the bucket has no room, StoreUnavailable when the
        server fails or does not answer in time (it may then have the object nevertheless).
        """
        name = checked(key)
        await self._call(lambda: self._put(name, data))

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """The bytes under `key` in one request, None when there are none. Raises StoreUnavailable,
        and InvalidInput when there are more than `most`.
        """
        name = checked(key)
        found = await self._call(lambda: self._read(name, None if most is None else most + 1))
        if found is not None and most is not None and len(found) > most:
            raise too_long(key, most)
        return found

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file, a part in memory at a time; False when there
        are none. Raises StoreUnavailable.
        """
        name = checked(key)
        return await self._call(lambda: self._write(name, file))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with `prefix`, in order of their characters.

        Raises StoreUnavailable.
        """
        found = self._names(checked_prefix(prefix))
        while page := await self._call(lambda: tuple(islice(found, _PAGE))):
            for name in page:
                yield name

    async def close(self) -> None:
        """Wait for the calls that run, end the threads and close the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._connections.clear()

    async def _call(self, work: Callable[[], _Result]) -> _Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: told_apart(work, self._bucket))

    def _put(self, name: str, data: bytes | Path) -> None:
        if isinstance(data, Path):
            # One part after the other: several at a time are all of a report in memory.
            self._client.fput_object(self._bucket, name, str(data), num_parallel_uploads=1)
        else:
            self._client.put_object(self._bucket, name, io.BytesIO(data), len(data))

    def _read(self, name: str, first: int | None) -> bytes | None:
        """All bytes of an object, or the first of them."""
        with self._response(name) as response:
            return None if response is None else response.read(first)

    def _write(self, name: str, file: Path) -> bool:
        with self._response(name) as response:
            if response is None:
                return False
            with file.open("wb") as written:
                shutil.copyfileobj(response, written)
        return True

    @contextmanager
    def _response(self, name: str) -> Iterator[BaseHTTPResponse | None]:
        """The answer to a GET, None when there is no such object."""
        try:
            response = self._client.get_object(self._bucket, name)
        except S3Error as error:
            if error.code not in _NOTHING:
                raise
            yield None
            return
        try:
            yield response
        finally:
            response.close()
            response.release_conn()

    def _names(self, prefix: str) -> Iterator[str]:
        for found in self._client.list_objects(self._bucket, prefix=prefix, recursive=True):
            if found.object_name is not None:
                yield found.object_name


def apply_storage(access: StoreAccess, expire: Mapping[str, int] = EXPIRE) -> list[str]:
    """Make the bucket and its lifecycle rules what they should be, and say what was done, one
    line a change: none when all was well. `expire`: days until objects under a prefix go; rules
    about anything else are kept as they are.

    Blocks. Raises StoreUnavailable, InvalidInput where rules of others could not be kept, and
    with the field `url` or `bucket` for what is no endpoint or no name of a bucket.
    """
    if not _BUCKET.fullmatch(access.bucket):
        message = (
            f"{access.bucket!r:.80} cannot name a bucket; expected 3 to 63 lower-case letters, "
            "digits, dots and hyphens, a letter or digit first and last"
        )
        raise InvalidInput(message, field="bucket")
    with access.connections() as pool:
        client = access.client(pool)
        return told_apart(lambda: _apply(client, access.bucket, expire), access.bucket)


def _apply(client: Minio, bucket: str, expire: Mapping[str, int]) -> list[str]:
    lines = []
    if not client.bucket_exists(bucket):
        client.make_bucket(bucket)
        lines.append(f"created bucket {bucket}")
    try:
        config = client.get_bucket_lifecycle(bucket)
    except ValueError as error:
        raise _not_keepable(bucket, expire) from error
    ours: list[Rule] = []
    others: list[Rule] = []
    for rule in config.rules if config else ():
        (ours if _prefix(rule) in expire and rule.expiration else others).append(rule)
    now = {_prefix(rule): _days(rule) for rule in ours}
    if now != dict(expire) or len(now) != len(ours):
        rules = [
            Rule(
                ENABLED,
                rule_filter=Filter(prefix=prefix),
                rule_id=prefix.strip("/"),
                expiration=Expiration(days=days),
            )
            for prefix, days in expire.items()
        ]
        # All rules are set at once, those of others again. The client would lose a part of these
        # forms, and the rule would hold for more objects than it did.
        if any(rule.rule_filter is None or rule.rule_filter.and_operator for rule in others):
            raise _not_keepable(bucket, expire)
        client.set_bucket_lifecycle(bucket, LifecycleConfig([*others, *rules]))
        lines += [f"{prefix} expires after {days} days" for prefix, days in expire.items()]
    return lines


def _not_keepable(bucket: str, expire: Mapping[str, int]) -> InvalidInput:
    wanted = ", ".join(f"{prefix} after {days} days" for prefix, days in expire.items())
    return InvalidInput(
        f"bucket {bucket} has lifecycle rules of a form that cannot be kept here; nothing was "
        f"changed. Let expire by a rule of your own: {wanted}"
    )


def _prefix(rule: Rule) -> str | None:
    """The prefix of a rule that looks at nothing else."""
    return rule.rule_filter.prefix if rule.rule_filter else None


def _days(rule: Rule) -> int | None:
    """After how many days objects go; None where the rule does not make them."""
    return rule.expiration.days if rule.expiration and rule.status == ENABLED else None
