"""Recipes of CAPability's published figures; keep in step with docs/published.md."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.benchmarks.base import Ingredient, ProtocolRecipe, RecipeGap

_PUBLISHED = ProtocolRecipe(
    ingredients=(
        Ingredient("category_labels", "any", "code"),
        Ingredient("reply_reading", "strict", "code"),
        Ingredient("caption_fence", "off", "Fig. A3; code"),
        Ingredient("blank_caption", "answer", "code; released data"),
        Ingredient("prompt", "simple", "Fig. A2; README; code"),
        Ingredient("repeats", "1", "4.3, Fig. 7"),
        Ingredient("caption_tokens", "8192", "A.1", "captioner"),
        Ingredient("preparation.longest", "8192", "A.1", "captioner"),
    ),
    models={"judge": "GPT-4-Turbo"},
    gaps=(
        RecipeGap("eleven tasks' judge prompts are not published; this run has Caliper's own"),
        RecipeGap("the judge decoded by the API's defaults; this run sends its own values"),
        RecipeGap(
            "the frames of a clip depended on the captioner; give --preparation frames=N or fps=N",
            "captioner",
        ),
    ),
)
"""Tables 3 to 6 of the paper."""
RECIPES: Mapping[str, ProtocolRecipe] = {"published": _PUBLISHED}
