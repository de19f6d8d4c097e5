"""Errors of huggingface_hub, translated into ones that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from caliper.adapters.files import store_error
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import httpx2
    from huggingface_hub import errors as hub_errors
else:
    # It takes long to import.
    httpx2 = lazy_module("httpx2")
    hub_errors = lazy_module("huggingface_hub.errors")

_HOME = "https://huggingface.co"
_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN"


@dataclass(frozen=True, slots=True)
class HubRequest:
    """A request to the Hub. Messages call it `name`; names are written as in `syntax`.

    `offline` says what to do without a network.
    """

    kind: Literal["dataset", "model"]
    repository: str
    revision: str
    name: str
    syntax: str
    offline: str = ""

    def page(self, place: str) -> str:
        return f"{place}/{'datasets/' if self.kind == 'dataset' else ''}{self.repository}"


@contextmanager
def hub_errors_translated(
    request: HubRequest, endpoint: str | None, folder: Path
) -> Iterator[None]:
    """Translate errors of the Hub at `endpoint`, None for the public one, and of `folder`, where
    copies go.
    """
    # Never with a user and password in it.
    file, place = request.name, re.sub("//[^/]*@", "//", endpoint or _HOME)
    try:
        yield
    except hub_errors.GatedRepoError as error:
        message = f"it is gated: accept its terms at {request.page(place)}, then {_LOG_IN}"
        raise InvalidInput(message, file=file) from error
    except hub_errors.RepositoryNotFoundError as error:
        message = (
            f"no such {request.kind} at {place}, or it is private: check the name, or {_LOG_IN}"
        )
        raise InvalidInput(message, file=file) from error
    except hub_errors.RevisionNotFoundError as error:
        message = f"it has no branch, tag or commit {request.revision!r}"
        raise InvalidInput(message, file=file) from error
    except hub_errors.HfHubHTTPError as error:
        if (status := error.response.status_code) in (401, 403):
            message = f"the Hub rejects the token ({status}): {_LOG_IN}"
            raise InvalidInput(message, file=file) from error
        raise StoreUnavailable(f"{file}: {place} answers with status {status}") from error
    except (
        hub_errors.LocalEntryNotFoundError,
        hub_errors.OfflineModeIsEnabled,
        httpx2.HTTPError,
    ) as error:
        message = f"{file}: {place} cannot be reached{request.offline}"
        raise StoreUnavailable(message) from error
    except hub_errors.HFValidationError as error:
        message = f"not a {request.kind} on the Hub; expected {request.syntax}"
        raise InvalidInput(message, file=file) from error
    except OSError as error:
        raise store_error(folder, error) from error
    except (ValueError, RuntimeError) as error:
        # A proxy's page, or the transfer of large files, whose URLs hold keys.
        kind = type(error).__name__
        raise StoreUnavailable(f"{file}: {place} does not answer as a Hub: {kind}") from error
