"""The four domains (paper 3.2) and their spellings in files."""

from __future__ import annotations

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


def domain_of(row: Row) -> str:
    """Return the domain stated in a row, or else the one implied by the prefix of its id.

    Case, spaces, hyphens and underscores are ignored ("E-commerce", "Embodied AI"). Raises
    InvalidInput with the known domains.
    """
    value = row.fields.get("domain")
    if value is None or value == "":
        return _from_prefix(row)
    spelling = "".join(letter for letter in str(value).casefold() if letter.isalnum())
    if spelling not in _SPELLINGS:
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
