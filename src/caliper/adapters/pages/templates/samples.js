"use strict";
(() => {
  const PAGE = 40;
  // A server's run of up to so many verdicts is loaded whole, and filtered here.
  const WHOLE = 20000;
  const FILTERS = ["benchmark", "dimension", "outcome", "category"];
  const byId = (id) => document.getElementById(id);
  const block = byId("data");
  const { source } = block.dataset;
  const cards = byId("cards");
  const search = byId("filter-text");
  const selects = Object.fromEntries(FILTERS.map((name) => [name, byId(`filter-${name}`)]));
  const { element, sampleOf, card, dropNeedlessToggles } = CARDS;
  const data = { captions: {}, pictures: {}, names: { benchmark: {}, dimension: {} } };
  const questions = new Map();
  let counts = [];
  let total = Number(block.dataset.total ?? 0);
  let loaded = 0;
  let matching = [];
  let shown = 0;
  let next = "";
  let only = { kind: "", value: "" };
  let loads = 0;
  let typed = 0;
  let loading = false;

  const number = (count) => count.toLocaleString("en");
  const say = () => {
    const verdicts = matching.reduce((sum, rows) => sum + rows.length, 0);
    const text = [`${number(shown)} of ${number(matching.length)}${next ? " loaded" : ""} shown`];
    if (verdicts !== matching.length) text.push(`${number(verdicts)} verdicts with repeats`);
    if (loading) text.push(`loading ${number(total)}`);
    else if (next || (loaded < total && !source)) text.push(`${number(loaded)} of ${number(total)} verdicts are here`);
    byId("count").textContent = text.join("; ");
    byId("more").hidden = shown >= matching.length && !next;
  };

  const draw = () => {
    const rows = matching.slice(shown, shown + PAGE);
    const size = next ? -1 : matching.length;
    const added = rows.map((each, place) => card(each, [shown + place + 1, size], data));
    cards.append(...added);
    dropNeedlessToggles(added);
    shown += rows.length;
    say();
  };
  const showMore = async () => {
    if (shown + PAGE > matching.length && next) await load(next);
    draw();
  };

  // What a search looks into; kept, because it takes long for many.
  const lowered = new Map();
  const captionText = (key) => {
    if (!lowered.has(key)) lowered.set(key, (data.captions[key] ?? "").toLowerCase());
    return lowered.get(key);
  };
  const ownText = (row) => {
    row.text ??= [row.question, row.expected, row.explanation, row.reply, row.item, row.sample]
      .join("\n")
      .toLowerCase();
    return row.text;
  };
  const prepareSearch = () => {
    for (const rows of questions.values()) {
      rows.forEach(ownText);
      captionText(sampleOf(rows[0]));
    }
  };
  const searching = (words) => {
    const hits = new Map();
    return (row) => {
      const key = sampleOf(row);
      if (!hits.has(key)) hits.set(key, captionText(key).includes(words));
      return hits.get(key) || ownText(row).includes(words);
    };
  };
  const isWanted = (rows) => {
    if (only.kind === "sample") return sampleOf(rows[0]) === only.value;
    return !only.kind || rows.some((row) => String(row.index) === only.value);
  };

  // A choice offers only what the other choices leave, with how many there are.
  const offer = (name, here, everywhere) => {
    const select = selects[name];
    const chosen = select.value;
    const values = new Set([...here.keys(), ...everywhere.keys()]);
    if (chosen) values.add(chosen);
    values.delete("");
    const said = (value) => {
      const [some, all] = [here.get(value) ?? 0, everywhere.get(value) ?? 0];
      if (source || some >= all) return number(Math.max(some, all));
      return `${number(some)} of ${number(all)}`;
    };
    const options = [...values].map(
      (value) => new Option(`${data.names[name]?.[value] ?? value} (${said(value)})`, value),
    );
    options.sort((one, other) => one.text.localeCompare(other.text));
    select.replaceChildren(new Option("all", ""), ...options);
    select.value = chosen;
    select.parentElement.hidden = !options.length;
  };

  const choose = () => {
    const words = search.value.trim().toLowerCase();
    const has = words && isWhole() ? searching(words) : () => true;
    const chosen = FILTERS.map((name) => selects[name].value);
    const here = FILTERS.map(() => new Map());
    const everywhere = FILTERS.map(() => new Map());
    // Of the filters that values fail, only a single one may be undone by its own choice.
    const tally = (maps, values, count) => {
      const failed = chosen.flatMap((each, place) => (each && each !== values[place] ? [place] : []));
      values.forEach((value, place) => {
        if (!failed.length || (failed.length === 1 && failed[0] === place)) {
          maps[place].set(value, (maps[place].get(value) ?? 0) + count);
        }
      });
      return !failed.length;
    };
    matching = [];
    for (const rows of questions.values()) {
      if (!isWanted(rows)) continue;
      let passes = false;
      for (const row of rows) {
        if (has(row) && tally(here, FILTERS.map((name) => row[name]), 1)) passes = true;
      }
      if (passes) matching.push(rows);
    }
    // With a search, only what is here can be counted.
    if (!words && !only.kind) {
      for (const [count, ...values] of counts) tally(everywhere, values, count);
    }
    FILTERS.forEach((name, place) => offer(name, here[place], everywhere[place]));
  };

  const remember = () => {
    const state = new URLSearchParams();
    for (const name of FILTERS) if (selects[name].value) state.set(name, selects[name].value);
    if (search.value.trim()) state.set("text", search.value.trim());
    if (only.kind) state.set(only.kind, only.value);
    const hash = String(state) ? `#${state}` : location.hash.replace(/^#.*=.*$/, "");
    try {
      history.replaceState(null, "", location.pathname + hash);
    } catch {
      // A page in a frame has no address to change.
    }
  };

  const redraw = () => {
    choose();
    shown = 0;
    cards.replaceChildren();
    byId("only").hidden = !only.kind;
    byId("only").textContent = `Only ${only.kind} ${only.value} ×`;
    if (!matching.length) {
      const text = loading ? "Loading ..." : "No sample is like that.";
      cards.append(element("li", "empty", total || !source ? text : "No verdicts yet."));
    }
    draw();
  };

  const take = (page) => {
    Object.assign(data.captions, page.captions);
    Object.assign(data.pictures, page.pictures);
    for (const [name, known] of Object.entries(data.names)) Object.assign(known, page.names[name]);
    counts = page.counts;
    total = counts.reduce((sum, [count]) => sum + count, 0);
    for (const row of page.samples) {
      const key = `${row.benchmark}\n${row.id}`;
      if (questions.has(key)) questions.get(key).push(row);
      else questions.set(key, [row]);
    }
    loaded += page.samples.length;
  };
  // Pages of a server's verdicts: all of a run, or of a larger one those that pass the filters.
  const isWhole = () => !source || total <= WHOLE || only.kind === "sample";
  // An answer to a search may have none, and more to come.
  const isEnough = () => !isWhole() && (only.kind || !search.value.trim() || questions.size >= shown + PAGE);
  const ask = (token) => {
    const parameters = new URLSearchParams();
    if (!isWhole()) {
      for (const name of FILTERS) if (selects[name].value) parameters.set(name, selects[name].value);
      if (search.value.trim()) parameters.set("text", search.value.trim());
    }
    if (token) parameters.set("token", token);
    return fetch(`${source}?${parameters}`).catch(() => ({ ok: false, status: "nothing" }));
  };
  const load = async (token) => {
    const mine = ++loads;
    // Pages may begin at any verdict.
    const skips = !token && !isWhole() && only.kind && Number(only.value) > 0;
    let response = ask(skips ? `0.${only.value - 1}` : token);
    do {
      loading = true;
      const answer = await response;
      const page = answer.ok ? await answer.json() : null;
      if (mine !== loads) return;
      loading = page !== null && page.next !== "";
      if (page === null) {
        byId("count").textContent = `The server answered ${answer.status}: load the page again.`;
        return;
      }
      // The server prepares the next page while this one is taken.
      const ahead = loading && isWhole();
      if (ahead) response = ask(page.next);
      take(page);
      loading = loading && !isEnough();
      if (loading && !ahead) response = ask(page.next);
      next = loading ? "" : page.next;
      if (!shown) redraw();
      else if (!loading) {
        choose();
        if (shown < PAGE) draw();
      }
      say();
    } while (loading);
  };

  const apply = async () => {
    remember();
    if (source && total > WHOLE) {
      clearTimeout(typed);
      questions.clear();
      loaded = shown = 0;
      await load("");
    } else redraw();
  };

  const read = () => {
    const hash = location.hash.includes("=") ? location.hash.slice(1) : "";
    const state = new URLSearchParams(hash || location.search);
    for (const name of FILTERS) {
      const value = state.get(name) ?? "";
      if (value) selects[name].add(new Option(value, value));
      selects[name].value = value;
    }
    search.value = state.get("text") ?? "";
    const kind = ["verdict", "sample"].find((each) => state.has(each)) ?? "";
    only = { kind, value: kind && state.get(kind) };
    return hash;
  };

  const arrive = () => {
    byId("samples").scrollIntoView();
    if (only.kind) cards.querySelector(".card")?.focus();
  };

  const step = async (by) => {
    const all = cards.getElementsByClassName("card");
    const at = [...all].indexOf(document.activeElement?.closest(".card"));
    if (by > 0 && at === all.length - 1 && (shown < matching.length || next)) await showMore();
    const target = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
    target?.focus();
    target?.scrollIntoView({ block: "nearest" });
  };

  byId("filters").addEventListener("change", (event) => {
    if (event.target !== search) apply();
  });
  search.addEventListener("input", () => {
    remember();
    clearTimeout(typed);
    if (isWhole()) redraw();
    else typed = setTimeout(apply, 300);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("all").addEventListener("click", () => {
    for (const field of [search, ...Object.values(selects)]) field.value = "";
    only = { kind: "", value: "" };
    apply();
  });
  byId("only").addEventListener("click", () => {
    only = { kind: "", value: "" };
    search.focus();
    apply();
  });
  byId("more").addEventListener("click", async () => {
    const first = shown;
    await showMore();
    cards.children[first]?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === search) search.blur();
    else if (event.target.closest("select, input, textarea")) return;
    const inCards = event.target.closest(".cards") !== null;
    if (event.key === "j" || (inCards && event.key === "ArrowDown")) step(1);
    else if (event.key === "k" || (inCards && event.key === "ArrowUp")) step(-1);
    else if (event.key === "/") search.focus();
    else if (event.key === "?") byId("keys").open = !byId("keys").open;
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    // Another part of the page, whose filters stay.
    if (location.hash && !location.hash.includes("=")) return;
    const linked = read();
    apply().then(() => linked && arrive());
  });
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.long")) details.open = true;
  });

  const embedded = async () => {
    if (block.type === "application/json") return JSON.parse(block.textContent);
    const bytes = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(unpacked).json();
  };
  const start = async () => {
    const linked = read();
    if (source) await load("");
    else {
      take(await embedded());
      redraw();
    }
    setTimeout(prepareSearch);
    if (linked) arrive();
  };
  start();
})();
