"""Translation of an S3 endpoint's errors into errors of core.errors."""

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


def translate_errors(work: Callable[[], _Result], bucket: str) -> _Result:
    """The result of a call, with translated errors.

    Raises StoreFull if the server or the bucket is full, StoreUnavailable for all other errors.
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
        message = f"the store does not answer ({_silence_reason(error)})"
        raise StoreUnavailable(f"bucket {bucket}: {message}") from error
    except (MinioException, OSError, ParseError, ValueError) as error:
        # The last two: the response is not from a store, but perhaps a proxy's page.
        raise StoreUnavailable(f"bucket {bucket}: {error}") from error


def _silence_reason(error: HTTPError) -> str:
    """Why there is no response, without the client's names of its objects."""
    reason = error.reason if isinstance(error, MaxRetryError) else error
    match reason:
        case SSLError():
            return str(reason)
        case NewConnectionError(__cause__=OSError(strerror=str(text))):
            return text.lower()
        case TimeoutError():
            return "not in time"
    return "the connection broke off"
