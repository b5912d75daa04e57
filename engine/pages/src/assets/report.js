// What a report does by itself: a link to a case opens it, and printing shows all of them.
"use strict";
const shown = () => {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
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
