"""What goes wrong with an S3 endpoint, in our words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from xml.etree.ElementTree import ParseError

from minio.error import MinioException, S3Error, ServerError
from urllib3.exceptions import (
    HTTPError,
    MaxRetryError,
    NewConnectionError,
    SSLError,
    TimeoutError,  # noqa: A004 - theirs, which no name of ours hides: ours is an OSError
)

from caliper.core.errors import StoreFull, StoreUnavailable

_NO_ROOM = frozenset({"XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"})

_Result = TypeVar("_Result")


def told_apart(work: Callable[[], _Result], bucket: str) -> _Result:
    """The result of a call, its errors as what they mean to us.

    Raises StoreFull when the server or the bucket has no room, StoreUnavailable for all other
    trouble.
    """
    try:
        return work()
    except S3Error as error:
        kind = StoreFull if error.code in _NO_ROOM else StoreUnavailable
        raise kind(f"bucket {bucket}: {error.code}: {error.message}") from error
    except ServerError as error:
        kind = StoreFull if error.status_code == 507 else StoreUnavailable
        raise kind(f"bucket {bucket}: {error}") from error
    except HTTPError as error:
        silent = f"the store does not answer ({_why_silent(error)})"
        raise StoreUnavailable(f"bucket {bucket}: {silent}") from error
    except (MinioException, OSError, ParseError, ValueError) as error:
        # The last two: what answered is no store, a proxy's page perhaps.
        raise StoreUnavailable(f"bucket {bucket}: {error}") from error


def _why_silent(error: HTTPError) -> str:
    """Why there is no answer, without the client's own names for its objects."""
    reason = error.reason if isinstance(error, MaxRetryError) else error
    match reason:
        case SSLError():
            return str(reason)
        case NewConnectionError(__cause__=OSError(strerror=str(said))):
            return said.lower()
        case TimeoutError():
            return "not in time"
    return "the connection broke off"
