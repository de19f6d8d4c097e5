"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const panels = [byId("edit"), byId("reject")].filter(Boolean);
  const picture = byId("picture");
  let sent = false;

  const open = (panel) => {
    for (const each of panels) each.open = each === panel;
    const field =
      panel.querySelector("textarea, input:checked") ?? panel.querySelector("input[type=radio]");
    field.focus();
    // Texts are changed at their end more often than before their start.
    if (field.type === "textarea") field.setSelectionRange(field.value.length, field.value.length);
  };
  const close = () => {
    for (const each of panels) each.open = false;
    byId("question")?.focus();
  };
  const zoom = () => {
    const zoomed = picture.classList.toggle("zoomed");
    byId("zoom").setAttribute("aria-pressed", String(zoomed));
    // In a zoomed picture, arrow keys scroll.
    (zoomed ? picture : byId("question")).focus();
  };
  const isTyping = (target) =>
    target.closest("textarea, select") || (target.matches("input") && target.type !== "radio");

  const press = (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key.startsWith("Arrow") && event.target.closest("input, .zoomed")) return;
    const usual = byId("reject")?.open && /^[1-9]$/.test(key)
      ? document.querySelectorAll("#reject input[type=radio]")[key - 1]
      : null;
    const target = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!usual && !target) return;
    event.preventDefault();
    if (usual) {
      usual.checked = true;
      usual.form.requestSubmit(usual.form.querySelector("button"));
    } else if (target.matches("summary")) open(target.parentElement);
    else target.click();
  };

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.isComposing) return;
    const form = event.target.closest("details form");
    if (event.key === "Escape") close();
    else if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button"));
    } else if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    else press(event);
  });
  // A second press before the next page is there must not judge twice.
  document.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => {
    sent = false;
  });
  for (const panel of panels) {
    panel.addEventListener("toggle", () => {
      for (const other of panels) if (panel.open && other !== panel) other.open = false;
    });
  }
  byId("zoom")?.addEventListener("click", zoom);
  const unsaved = panels.find((panel) => panel.open);
  if (unsaved) open(unsaved);
  else byId("question")?.focus();
})();
