"""How models are named: SPECs, and the backends that other packages add to them."""

from __future__ import annotations

from pathlib import Path

from caliper.adapters.models.function import KIND as FUNCTION
from caliper.adapters.models.replica import Backend
from caliper.adapters.models.triton_address import SYNTAX
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.run import RECORDED
from caliper.plugins import PluginGroup, no_function

_URLS = "URL[,URL...][#model[@revision]]"
KINDS = (
    "lexical",
    f"chat:{_URLS}",
    f"tgi:{_URLS}",
    f"triton:{SYNTAX}",
    "replay:DIR[#model]",
)
CHAT_KINDS = ("chat", "tgi")
"""The kinds of endpoints with an OpenAI-style API; `tgi` also requests what only TGI reports."""
TAGGERS = ("rules", "spacy:MODEL")
EMBEDDERS = ("ngram", "minilm", "minilm:DIR", f"triton:{SYNTAX}")
_OWN = ("lexical", *CHAT_KINDS, "triton", "replay")


BACKENDS = PluginGroup[Backend]("backend", (*_OWN, FUNCTION), no_function)


def split_spec(spec: str) -> tuple[str, str]:
    """Split a SPEC at its colon into the kind and the rest.

    Raises UnknownName, and InvalidInput for a bare URL, which does not repeat the URL: it may hold
    a secret.
    """
    kind, _, rest = spec.partition(":")
    if rest.startswith("//"):
        raise InvalidInput(f"a model behind a URL is written {KINDS[1]}")
    if kind not in (*_OWN, *BACKENDS.names) or (kind != "lexical") != bool(rest):
        kinds = (*KINDS, *(f"{name}:..." for name in BACKENDS.names))
        raise UnknownName("model", kind if "//" in rest else spec, kinds)
    if kind in _OWN:
        BACKENDS.check_own(kind)
    return kind, rest


def check_tagger(spec: str) -> None:
    """Raise UnknownName for a noun tagger that Caliper lacks."""
    kind, _, model = spec.partition(":")
    if spec != "rules" and not (kind == "spacy" and model):
        raise UnknownName("tagger", spec, TAGGERS)


def check_embedder(spec: str) -> None:
    """Raise UnknownName for an embedder that Caliper lacks."""
    if spec != "ngram" and spec.partition(":")[0] not in ("minilm", "triton"):
        raise UnknownName("embedder", spec, EMBEDDERS)


def split_chat_spec(spec: str) -> tuple[str, str]:
    """Split the SPEC of a chat model. Raises like `split_spec`, and InvalidInput for rules and
    recorded replies.
    """
    kind, rest = split_spec(spec)
    if kind in ("lexical", "replay"):
        raise InvalidInput(
            f"{spec} cannot look at pictures; a captioner is {', '.join(KINDS[1:-1])}"
        )
    return kind, rest


def split_recording(rest: str) -> tuple[Path, str]:
    """Split the `DIR[#model]` of a `replay:` SPEC into the folder of recorded replies and the name
    of the model that wrote them. Raises InvalidInput for a blank name.
    """
    folder, mark, model = rest.rpartition("#")
    if not mark:
        return Path(rest), RECORDED
    if not model.strip():
        raise InvalidInput(f"replay:{rest} names no model after #")
    return Path(folder), model


def encrypted(spec: str) -> bool:
    """Whether any endpoint of a model or embedder SPEC uses TLS."""
    return "https://" in spec
