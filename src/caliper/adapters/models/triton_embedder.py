"""An embedder behind a Triton server: texts, token ids or encoded pictures in, vectors out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from caliper.adapters.models.triton_address import COMMON_OPTIONS, TritonAddress, parse_addresses
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ANY, ExpectedTensor, ServedModel
from caliper.adapters.models.triton_tensors import (
    array_of,
    bytes_input,
    encode_text,
    integers_input,
)
from caliper.core.errors import BackendUnavailable, CaliperError, InvalidInput
from caliper.core.keys import digest
from caliper.core.question import Vector
from caliper.core.run import Identity
from caliper.lazy import require

_OPTIONS = ("text", "embedding", "tokenizer", *COMMON_OPTIONS)
_IDS = ("input_ids", "attention_mask", "token_type_ids")
"""The input names of an encoder; only the first is required."""
_MOST_TEXTS = 64

Tokenizer = Callable[[str], list[int]]
"""Maps a text to token ids, including the special tokens at its start and end."""


def parse_embedder_addresses(text: str) -> tuple[TritonAddress, ...]:
    """Parse the part after `triton:` of a SPEC that names an embedder.

    Options: `text` and `embedding` (names of tensors), `tokenizer` (a file, or a folder with
    one, for models that take token ids); `load` and `revision`. Raises InvalidInput,
    UnknownName.
    """
    return parse_addresses(text, _OPTIONS)


class TritonEmbedder:
    """An Embedder and a PictureEmbedder. Await `resolve` once before anything else, `close` last.

    Each call is one try of at most `seconds`, for at most `most` texts. The model takes texts, or
    token ids from the tokenizer in the address. It returns one vector per text, or one per token;
    token vectors are averaged. `ca` as for TritonClient.
    """

    def __init__(
        self,
        address: TritonAddress,
        token: SecretStr | None = None,
        seconds: float = 120.0,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for an unusable tokenizer or CA."""
        self._tokenizer: Tokenizer | None = None
        self._tokenizer_digest = ""
        if path := address.options.get("tokenizer"):
            self._tokenizer, self._tokenizer_digest = _tokenizer(Path(path))
        self._address = address
        self._client = TritonClient(address, token, seconds, ca=ca)
        self._identity: Identity | None = None
        self._output = ""

    @property
    def identity(self) -> Identity:
        """The model on the server. The tokenizer's hash is part of the origin."""
        if self._identity is None:
            raise CaliperError("the embedder is used before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask the server for the model and check its tensors.

        Raises InvalidInput naming model, tensor, expected and actual type, UnknownName if the
        server has no such model or version, and BackendError subclasses.
        """
        served = await self._client.open()
        self._output = self._address.option("embedding", next(iter(served.outputs), "embedding"))
        vector = ExpectedTensor(self._output, ("FP32",), ((ANY,), (ANY, ANY)))
        if self._tokenizer is None:
            text = self._text(served)
            served.check([ExpectedTensor(text, ("BYTES",), ((1,),))], [vector])
        else:
            kinds = ("INT64", "INT32")
            ids, *others = (
                ExpectedTensor(name, kinds, ((ANY,),), name != _IDS[0]) for name in _IDS
            )
            served.check([ids, *others], [vector])
        origin = (
            f"{served.version}-{digest([served.revision, self._output, self._tokenizer_digest])}"
        )
        revision = self._address.option("revision", "")
        self._identity = Identity("triton", served.name, revision, cached=True, origin=origin)
        return self._identity

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text for at most `most` texts, in one request. All have the same length.

        Raises BackendError subclasses, and ModelChanged if another version or configuration of
        the model answers than `resolve` found.
        """
        if self._tokenizer:
            return await self._infer(self._ids(texts[0]), len(texts))
        return await self._infer(self._bytes([encode_text(text) for text in texts]), len(texts))

    async def embed_pictures(self, pictures: Sequence[bytes]) -> list[Vector]:
        """Like `embed`, for a model that takes encoded pictures instead of texts.

        Raises InvalidInput if the model takes token ids.
        """
        if self._tokenizer:
            raise InvalidInput(f"{self.identity.label} takes token ids, not pictures")
        return await self._infer(self._bytes(pictures), len(pictures))

    async def _infer(self, inputs: list[Any], count: int) -> list[Vector]:
        vectors = array_of(await self._client.infer(inputs), self._output)
        if vectors is None:
            raise BackendUnavailable(f"the answer lacks the output {self._output}")
        rows = self._rows(vectors, count)
        if not np.isfinite(rows).all():
            raise BackendUnavailable("an embedding contains a value that is not a number")
        return [tuple(row.tolist()) for row in rows]

    @property
    def most(self) -> int:
        """The maximum number of texts per request."""
        # One text per request with token ids: padding could change the vectors.
        return max(1, 0 if self._tokenizer else min(self._client.model.batch, _MOST_TEXTS))

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    def _rows(self, vectors: NDArray[Any], count: int) -> NDArray[np.float64]:
        """Vectors of shape (texts, length), with token vectors averaged."""
        served = self._client.model
        if not served.batch:
            vectors = vectors[np.newaxis]
        if vectors.ndim == 3:
            vectors = vectors.mean(axis=1, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != count or not vectors.size:
            raise BackendUnavailable(
                f"the output {self._output} has the shape {list(vectors.shape)} for {count} text(s)"
            )
        return vectors.astype(np.float64)

    def _bytes(self, values: Sequence[bytes]) -> list[Any]:
        shape = [len(values), 1] if self._client.model.batch else [1]
        return [bytes_input(self._text(self._client.model), values, shape)]

    def _ids(self, text: str) -> list[Any]:
        served = self._client.model
        ids = self._tokenizer(text) if self._tokenizer else []
        values = {"input_ids": ids, "attention_mask": [1] * len(ids)}
        inputs = []
        for name in _IDS:
            if name in served.inputs:
                row = values.get(name, [0] * len(ids))
                rows: Any = [row] if served.batch else row
                inputs.append(integers_input(name, served.inputs[name].datatype, rows))
        return inputs

    def _text(self, served: ServedModel) -> str:
        return self._address.option("text", next(iter(served.inputs), "text"))


def _tokenizer(path: Path) -> tuple[Tokenizer, str]:
    """The tokenizer in a file or folder, and the hash of its file."""
    file = path / "tokenizer.json" if path.is_dir() else path
    library = require("tokenizers")
    try:
        data = file.read_bytes()
        tokenizer = library.Tokenizer.from_str(data.decode("utf-8"))
    except Exception as error:
        # The library raises bare Exceptions for unreadable files.
        raise InvalidInput(f"not a tokenizer: {error}", file=str(file)) from error
    tokenizer.no_padding()

    def ids(text: str) -> list[int]:
        return list(tokenizer.encode(text).ids)

    return ids, hashlib.sha256(data).hexdigest()
