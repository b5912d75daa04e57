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
        if (!other || other.innerHTML === part.innerHTML) { continue; }
        if (isSelected(part)) { isStale = true; } else { replace(part, other); }
      }
    }
  } catch {
    // The server went away; the stream says when it is back.
  }
  isAsking = false;
  listen();
  if (isStale && !document.hidden && !isHeld()) { refresh(); }
}

// Whether someone selects text there, to copy it: what would take the selection away waits until it is given up.
const isSelected = (part) => {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(part, true);
};
const isHeld = () => [...parts()].some(isSelected);
document.addEventListener("selectionchange", () => {
  if (isStale && !isHeld()) { refresh(); }
});

// Gives a part its new content. What is open stays open, what is scrolled stays where it is, and what has the focus keeps it.
const replace = (part, other) => {
  const open = [...part.querySelectorAll("details[open][id]")].map((it) => it.id);
  const scrolled = [...part.querySelectorAll(".scrolls")].map((it) => [it.scrollLeft, it.scrollTop]);
  const refocus = focusIn(part);
  part.replaceChildren(...[...other.childNodes].map((it) => document.adoptNode(it)));
  open.forEach((id) => { const it = document.getElementById(id); if (it) { it.open = true; } });
  part.querySelectorAll(".scrolls").forEach((it, place) => {
    [it.scrollLeft, it.scrollTop] = scrolled[place] ?? [0, 0];
  });
  refocus();
};

// What gives the focus back after a part was replaced: a link is found by where it leads, all else by its place.
const focusIn = (part) => {
  const it = document.activeElement;
  if (!it || it === part || !part.contains(it)) { return () => {}; }
  const href = it.getAttribute("href");
  const alike = href === null ? it.localName : `${it.localName}[href="${CSS.escape(href)}"]`;
  const place = [...part.querySelectorAll(alike)].indexOf(it);
  return () => {
    const again = part.querySelectorAll(alike)[place] ?? part.querySelector(".scrolls");
    again?.focus({ preventScroll: true });
  };
};

// The stream of changes is open only while the page is seen and has something that may change: a browser has few connections
// to a server, for all its tabs together. A stream that is opened again begins with what was missed.
let changes = null;
function listen() {
  const isWanted = parts().length > 0 && !document.hidden && !document.querySelector("[data-settled]");
  if (isWanted && !changes) {
    changes = new EventSource("/changes");
    changes.addEventListener("changed", refresh);
  }
  if (!isWanted && changes) {
    changes.close();
    changes = null;
  }
}
listen();
document.addEventListener("visibilitychange", () => {
  listen();
  if (isStale) { refresh(); }
});

// Keys, unless someone types.
const keys = document.getElementById("keys");
const step = (by) => {
  const all = [...document.querySelectorAll("[data-row]")];
  const at = all.indexOf(document.activeElement?.closest("[data-row]"));
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next]?.querySelector("a")?.focus();
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

// What is folded is printed, too.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("main details:not([open])")];
  closed.forEach((it) => { it.open = true; });
});
addEventListener("afterprint", () => {
  closed.forEach((it) => { it.open = false; });
  closed = [];
});
