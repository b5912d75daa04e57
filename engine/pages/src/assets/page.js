// What pages do by themselves: they follow a run in progress, and listen to a few keys. All of it works without this.
"use strict";

// A page with something that changes asks again when the server says so, and takes over what is different.
const parts = () => document.querySelectorAll("[data-live]");
let isAsking = false;
let isStale = false;
async function refresh() {
  if (isAsking || document.hidden) {
    isStale = true;
    return;
  }
  isAsking = true;
  isStale = false;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of parts()) {
        const other = page.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
        const isUsed = part.contains(document.activeElement) && document.activeElement !== document.body;
        if (other && !isUsed && other.innerHTML !== part.innerHTML) {
          const open = [...part.querySelectorAll("details[open][id]")].map((it) => it.id);
          part.replaceChildren(...[...other.childNodes].map((it) => document.adoptNode(it)));
          open.forEach((id) => { const it = document.getElementById(id); if (it) { it.open = true; } });
        }
      }
    }
  } catch {
    // The server went away; the stream says when it is back.
  }
  isAsking = false;
  if (isStale && !document.hidden) { refresh(); }
}
if (parts().length > 0) {
  const changes = new EventSource("/changes");
  changes.addEventListener("changed", refresh);
  document.addEventListener("visibilitychange", () => { if (isStale) { refresh(); } });
}

// Keys, unless someone types.
const keys = document.getElementById("keys");
const rows = () => [...document.querySelectorAll("[data-row] a")];
const step = (by) => {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next]?.focus();
};
const follow = (selector) => document.querySelector(selector)?.click();
const on = {
  j: () => step(1),
  k: () => step(-1),
  n: () => follow("a[rel~=next]"),
  p: () => follow("a[rel~=prev]"),
  u: () => follow("a[rel~=up]"),
  "/": () => document.querySelector("input[type=search]")?.focus(),
  "?": () => keys?.showModal(),
};
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, select, textarea, dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(on, event.key)) { return; }
  event.preventDefault();
  on[event.key]();
});
document.getElementById("show-keys")?.addEventListener("click", () => keys?.showModal());

// A choice in a form is made at once; the button is for those without a script.
document.querySelectorAll("form.filters select").forEach((it) => {
  it.addEventListener("change", () => it.form.requestSubmit());
});
