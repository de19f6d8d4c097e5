"""Tokens without Java: those of Stanford's tokenizer (tests/golden/caption_metrics.py ran it)."""

import json

from tests.fakes.sources import ROOT

from caliper.lexical.treebank import tokenize

GOLDEN = json.loads((ROOT / "tests" / "golden" / "caption_metrics.json").read_text("utf-8"))


def test_tokens_are_those_of_stanfords_tokenizer() -> None:
    wanted = GOLDEN["tokens"]
    assert len(wanted) > 50
    # One text has characters that are no tokens there; others have spaces inside a token.
    assert {text: tokenize(text) for text in wanted} == {
        text: tuple(tokens.split()) for text, tokens in wanted.items()
    }


def test_texts_without_words() -> None:
    assert tokenize("") == tokenize(" \n ") == tokenize('"..."!') == ()
    assert tokenize("two\nlines") == ("two", "lines")
