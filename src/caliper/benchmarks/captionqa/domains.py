"""The four domains (paper 3.2) and their spellings in files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from caliper.core.rows import Row

DOMAINS = ("natural", "document", "ecommerce", "embodiedai")

TITLES = {
    "natural": "Natural",
    "document": "Document",
    "ecommerce": "E-commerce",
    "embodiedai": "Embodied AI",
}
PREFIXES = {"nat_": "natural", "doc_": "document", "ecom_": "ecommerce", "emb_": "embodiedai"}
_SPELLINGS = {
    **{domain: domain for domain in DOMAINS},
    **{prefix.rstrip("_"): domain for prefix, domain in PREFIXES.items()},
    "documents": "document",
    "embodied": "embodiedai",
}


_OWN_NAME = re.compile("[a-z][a-z0-9_-]{0,39}")


def domain_of(row: Row) -> str:
    """Return the domain stated in a row, or else the one implied by the prefix of its id.

    Case, spaces, hyphens and underscores are ignored ("E-commerce", "Embodied AI"). A row whose
    field `extension` is true may state a user's own domain. Raises InvalidInput with the known
    domains.
    """
    value = row.fields.get("domain")
    if value is None or value == "":
        return _from_prefix(row)
    spelling = "".join(letter for letter in str(value).casefold() if letter.isalnum())
    if spelling not in _SPELLINGS:
        if row.fields.get("extension") is True and is_domain_name(value):
            return str(value)
        raise row.error("domain", f"unknown domain {value!r:.60}; known: {', '.join(DOMAINS)}")
    return _SPELLINGS[spelling]


def _from_prefix(row: Row) -> str:
    identifier = row.text("id")
    for prefix, domain in PREFIXES.items():
        if identifier.startswith(prefix):
            return domain
    raise row.error(
        "domain",
        f"missing, and the id {identifier!r:.60} starts with none of {', '.join(PREFIXES)};"
        f" known domains: {', '.join(DOMAINS)}",
    )


def is_domain_name(value: object) -> bool:
    """Whether a user's own domain may have that name."""
    return isinstance(value, str) and _OWN_NAME.fullmatch(value) is not None


def title(domain: str) -> str:
    """Return a domain's name as people read it."""
    return TITLES.get(domain, domain.capitalize())


def in_order(domains: Iterable[str]) -> list[str]:
    """Return the domains in the paper's order, then others by name; each once."""
    names = set(domains)
    return [*(each for each in DOMAINS if each in names), *sorted(names.difference(DOMAINS))]
