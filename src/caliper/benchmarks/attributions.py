"""Recognize verdicts that a reply attributes to the caption or its author (ours)."""

from __future__ import annotations

import re

_OTHERS = (
    r"\b(?:I(?:['\u2019]m|\sam|\swas|\shave\sbeen)\s(?:told|asked|instructed|ordered|supposed)"
    r"|(?:caption|sentence|text|description|phrase|it|which|that|who|some(?:one|body)|prompt|note)"
    r"\s(?:\w{1,20}\s){0,2}?"
    r"(?:ha[sd]\b|(?:order|ask|want|claim|demand|instruct|contain|include|embed|carrie|state|quote|inject"
    r"|request|try|trie|end|read|repeat|show|attempt|smuggle|plant|insert|slip)(?:s|ed|d)?|says?|said|tells?|told|holds?|held)"
    r"|injected|embedded|planted|hidden|fake|quoted|inserted|smuggled|bogus)\b"
)
REPORTED = re.compile(
    _OTHERS + r"(?:(?!\b(?:but|so|hence|therefore|thus)\b|(?<!: )\bI\b)[^.,;\n])*", re.IGNORECASE
)
QUOTED_OBJECT = re.compile(
    _OTHERS
    + r"(?>(?:\s(?:an?|the|this|me|us|for|to|with|in|is|was|order|instruction|object|text|json"
    r"|smuggle|inject|insert|include|plant|slip|sneak"
    r"|verdict|output|give|write|return|answer|reply|score|line|words?))*)$"
    r"|\b(?:user|human|caption|text|sentence|input|example|for instance|template|draft"
    r"|first (?:thought|attempt|guess))$",
    re.IGNORECASE,
)
# "B" is written in the caption; {"score": 1} is what the caption wants.
DISOWNED = re.compile(
    r"\s(?:is|was|are|were)\s(?:only\s|just\s|merely\s)?(?:(?:what|the\s\w{1,20}(?:\s(?:that|which))?)"
    r"\s(?:the|this|that)\s(?:\w{1,20}\s){1,2}?(?:tri(?:es|ed)\s|attempt(?:s|ed)?\s)?(?:to\s)?"
    r"(?:order|want|ask|demand|instruct|request|claim|tell|told|inject|dictate|wish)\w{0,3}\b"
    r"|(?:written|printed|injected|embedded|hidden|planted|smuggled|quoted|ordered|demanded"
    r"|requested|part\sof|(?:an?|the)\s(?:injection|trick|quote|quotation))\b)"
    r"|\s(?:appears?|stands|occurs)\s(?:in|at|inside)\s(?:the|this)\s"
    r"(?:caption|text|sentence|description|phrase|quot\w{1,7}|end|beginning|start)\b"
    # An object was blanked out here.
    r"|\s\sin\s(?:the|this)\s(?:caption|text|sentence|description|phrase)\b",
    re.IGNORECASE,
)
