// What a report does by itself: a link to a case opens it, and printing shows all of them.
"use strict";
const named = () => {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // A fragment that is not an encoded text names nothing.
    return null;
  }
};
const shown = () => {
  const it = named();
  if (it instanceof HTMLDetailsElement) {
    it.open = true;
    it.scrollIntoView();
  }
};
addEventListener("hashchange", shown);
shown();
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll(".cases > details:not([open])")];
  closed.forEach((it) => { it.open = true; });
});
addEventListener("afterprint", () => {
  closed.forEach((it) => { it.open = false; });
  closed = [];
});
