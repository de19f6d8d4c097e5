"""Translation of an S3 endpoint's errors into errors of core.errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from xml.etree.ElementTree import ParseError

from minio.error import MinioException, S3Error, ServerError
from urllib3.exceptions import (
    HTTPError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
    TimeoutError,  # noqa: A004 - theirs, which no name of ours hides: ours is an OSError
)

from caliper.core.errors import StoreFull, StoreUnavailable

_NO_ROOM = frozenset({"XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"})
_OTHER_REGION = "is STORE_REGION that of the bucket?"
_OTHER_STYLE = "does this server know the STORE_STYLE of requests?"
_EXPIRED = "is STORE_SESSION_TOKEN that of the keys, and still valid?"
_HINTS = {
    "AuthorizationHeaderMalformed": _OTHER_REGION,
    # To a HEAD, whose response explains nothing.
    "BadRequest": _OTHER_REGION,
    "IllegalLocationConstraintException": _OTHER_REGION,
    "InvalidLocationConstraint": _OTHER_REGION,
    "PermanentRedirect": _OTHER_REGION,
    "InvalidBucketName": _OTHER_STYLE,
    "ExpiredToken": _EXPIRED,
    "InvalidToken": _EXPIRED,
    "InvalidTokenId": _EXPIRED,
}
"""Questions about our settings, by the code of an error that they cause."""

_Result = TypeVar("_Result")


def translate_errors(work: Callable[[], _Result], bucket: str) -> _Result:
    """The result of a call, with translated errors.

    Raises StoreFull if the server or the bucket is full, StoreUnavailable for all other errors.
    """
    try:
        return work()
    except S3Error as error:
        kind = StoreFull if error.code in _NO_ROOM else StoreUnavailable
        hint = _HINTS.get(error.code or "")
        message = f"bucket {bucket}: {error.code}: {error.message}"
        raise kind(f"{message} ({hint})" if hint else message) from error
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
        case NameResolutionError():
            return f"no host {reason.conn.host}"
        case NewConnectionError(__cause__=OSError(strerror=str(text))):
            return text.lower()
        case TimeoutError():
            return "not in time"
    return "the connection broke off"
