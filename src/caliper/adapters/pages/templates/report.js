"use strict";
(() => {
  const PAGE = 40;
  const FILTERS = ["benchmark", "dimension", "outcome"];
  const byId = (id) => document.getElementById(id);
  const { samples, pictures } = JSON.parse(byId("data").textContent);
  const cards = byId("cards");
  const selects = Object.fromEntries(FILTERS.map((name) => [name, byId(`filter-${name}`)]));
  let matching = [];
  let shown = 0;

  // Everything from the data becomes text, never markup.
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const labelled = (className, label, text) => {
    const line = element("p", className);
    line.append(element("b", "", `${label} `), text);
    return line;
  };

  const tone = (sample) => {
    if (sample.score === null) return "missing";
    return { correct: "good", wrong: "bad" }[sample.outcome] ?? "middle";
  };
  const outcomeOf = (sample) =>
    sample.reason ? `${sample.outcome}: ${sample.reason.replaceAll("_", " ")}` : sample.outcome;

  const pictureBox = (sample) => {
    const box = element("div", "pictures");
    for (const key of sample.pictures) {
      if (!(key in pictures)) continue;
      const image = element("img");
      image.src = pictures[key];
      image.alt = `Sample ${sample.item}`;
      image.loading = "lazy";
      box.append(image);
    }
    if (!box.childElementCount) box.append(element("div", "nothing", "no picture"));
    const others = sample.media - box.querySelectorAll("img").length;
    if (box.querySelector("img") && others > 0) {
      box.append(element("span", "others", `and ${others} more`));
    }
    return box;
  };

  const captionBlock = (sample) => {
    if (!sample.caption) return [element("p", "caption none", "No caption.")];
    const caption = element("blockquote", "caption", sample.caption);
    caption.classList.add("clamped");
    const tools = element("div", "tools");
    const toggle = element("button", "plain", "Whole caption");
    toggle.type = "button";
    toggle.setAttribute("aria-expanded", "false");
    toggle.addEventListener("click", () => {
      const clamped = caption.classList.toggle("clamped");
      toggle.setAttribute("aria-expanded", String(!clamped));
      toggle.textContent = clamped ? "Whole caption" : "Less of it";
    });
    tools.append(toggle);
    return [caption, tools];
  };

  const replyBlock = (sample) => {
    const details = element("details", "reply");
    const repaired = sample.repaired ? ", repaired when read" : "";
    details.append(element("summary", "", `Reply of ${sample.judge}${repaired}`));
    details.append(element("pre", "", sample.reply));
    return details;
  };

  const card = (sample) => {
    const made = element("li", `card ${tone(sample)}`);
    made.tabIndex = 0;
    const body = element("div");
    const top = element("div", "top");
    top.append(
      element("span", "outcome", outcomeOf(sample)),
      element("span", "", `${sample.benchmark} · ${sample.dimension}`),
      element("span", "item", sample.repeat ? `${sample.item} #${sample.repeat + 1}` : sample.item),
    );
    body.append(top, element("p", "question", sample.question));
    if (sample.expected) body.append(labelled("expected", "Expected", sample.expected));
    if (sample.explanation) body.append(labelled("explanation", "Why", sample.explanation));
    body.append(...captionBlock(sample));
    if (sample.reply) body.append(replyBlock(sample));
    made.append(pictureBox(sample), body);
    return made;
  };

  // Whether a caption fits its lines is known once it is laid out.
  const dropNeedlessToggles = () => {
    for (const caption of cards.querySelectorAll(".caption.clamped")) {
      if (caption.scrollHeight <= caption.clientHeight + 1) {
        caption.classList.remove("clamped");
        caption.nextElementSibling.remove();
      }
    }
  };

  const showMore = () => {
    const next = matching.slice(shown, shown + PAGE);
    cards.append(...next.map(card));
    dropNeedlessToggles();
    shown += next.length;
    byId("more").hidden = shown >= matching.length;
    byId("count").textContent = `${shown} of ${matching.length} shown`;
  };

  const passes = (sample, except) =>
    FILTERS.every(
      (name) => name === except || !selects[name].value || sample[name] === selects[name].value,
    );

  // A choice offers only what the other choices leave, with how many there are.
  const offer = (name) => {
    const counts = new Map();
    for (const sample of samples) {
      if (passes(sample, name)) counts.set(sample[name], (counts.get(sample[name]) ?? 0) + 1);
    }
    const select = selects[name];
    const chosen = select.value;
    if (chosen && !counts.has(chosen)) counts.set(chosen, 0);
    select.replaceChildren(
      new Option("all", ""),
      ...[...counts].sort().map(([value, count]) => new Option(`${value} (${count})`, value)),
    );
    select.value = chosen;
  };

  const apply = () => {
    FILTERS.forEach(offer);
    matching = samples.filter((sample) => passes(sample));
    shown = 0;
    cards.replaceChildren();
    showMore();
    if (!matching.length) cards.append(element("li", "empty", "No sample is like that."));
  };

  const step = (by) => {
    const all = [...cards.querySelectorAll(".card")];
    const at = all.indexOf(document.activeElement?.closest(".card"));
    if (by > 0 && at === all.length - 1 && shown < matching.length) {
      showMore();
      step(by);
      return;
    }
    const target = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
    target?.focus();
    target?.scrollIntoView({ block: "nearest" });
  };

  byId("filters").addEventListener("change", apply);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("all").addEventListener("click", () => {
    for (const select of Object.values(selects)) select.value = "";
    apply();
  });
  byId("more").addEventListener("click", () => {
    const first = shown;
    showMore();
    cards.children[first]?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("select, input, textarea")) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.long")) details.open = true;
  });
  apply();
})();
