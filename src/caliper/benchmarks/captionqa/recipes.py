"""Recipes of CaptionQA's published figures; keep in step with docs/published.md."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.benchmarks.base import Ingredient, ProtocolRecipe, RecipeGap

_PUBLISHED = ProtocolRecipe(
    ingredients=(
        Ingredient("yes_no", "released", "code"),
        Ingredient("shuffle", "released", "code", "captions"),
        Ingredient("reading", "released", "code"),
        Ingredient("overall", "domains", "Table 3"),
        Ingredient("max_tokens", "4", "code"),
        Ingredient("temperature", "0.0", "code"),
        Ingredient("caption_fence", "off", "code"),
        Ingredient("blank_caption", "answer", "code"),
        Ingredient("prompt", "simple", "3.3, 18"),
        Ingredient("repeats", "1", "3.5"),
        Ingredient("caption_tokens", "500", "code", "captioner"),
        Ingredient("preparation.longest", "8192", "code", "captioner"),
    ),
    models={"reader": "Qwen2.5-72B-Instruct"},
    gaps=(
        RecipeGap("33,027 questions were asked, of which 8,492 are public"),
        RecipeGap("the reader's prompt is not in the paper; this run has Caliper's own"),
        RecipeGap(
            "shuffle=released needs supplied captions; this run shuffles by question", "captioner"
        ),
        RecipeGap(
            "captions were written at temperature 0.7 by default; this run sends temperature 0",
            "captioner",
        ),
    ),
)
"""Tables 3 and 11 to 26 of the paper."""
RECIPES: Mapping[str, ProtocolRecipe] = {"published": _PUBLISHED}
