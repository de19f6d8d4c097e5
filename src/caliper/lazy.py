"""Modules that not every command needs: they take long to import, or an extra brings them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caliper.core.errors import InvalidInput

EXTRAS = {
    "av": "media",
    "PIL": "media",
    "pyarrow": "parquet",
    "scipy": "analysis",
    "mlflow": "mlflow",
    "spacy": "spacy",
    "safetensors": "minilm",
    "tokenizers": "minilm",
    "cryptography": "serve",
    "google": "serve",
    "grpc": "serve",
    "grpc_health": "serve",
    "grpc_reflection": "serve",
    "grpc_status": "serve",
    "kafka": "serve",
    "minio": "serve",
    "opentelemetry": "serve",
    "prometheus_client": "serve",
    "tritonclient": "serve",
    "urllib3": "serve",
    "wandb": "wandb",
    "pandas": "pandas",
    "polars": "polars",
}
"""The extra of the distribution that installs a library, by the name of its module."""


class _Deferred:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(require(self._name), attribute)


def lazy_module(name: str) -> Any:
    """The module of that name, imported on first access, as by `require`.

    It stands in the `else` of `if TYPE_CHECKING: from package import module`, so that type
    checkers and the rules about imports see the import.
    """
    return _Deferred(name)


def require(name: str) -> Any:
    """Import a module of ours or of a library.

    Raises InvalidInput that names the extra to install, if the module or one that it imports is
    missing.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        raise missing from error


def missing_extra(error: ModuleNotFoundError) -> InvalidInput | None:
    """The same error with the extra to install; None for a module that no extra brings."""
    library = (error.name or "").partition(".")[0]
    return _needs(library) if library in EXTRAS else None


def check_library(*libraries: str, field: str = "") -> None:
    """Raise InvalidInput that names the extra to install if one of these libraries of `EXTRAS` is
    missing. They are not imported. `field` is the option that needs them.
    """
    for library in libraries:
        if not _is_installed(library):
            raise _needs(library, field)


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False


def _needs(library: str, field: str = "") -> InvalidInput:
    from caliper.core.errors import InvalidInput  # noqa: PLC0415 - `caliper.cli.main` imports this

    message = f"needs {library}: pip install 'caliper-captions[{EXTRAS[library]}]'"
    return InvalidInput(message, field=field)
