// Keyboard and tooltip for heatmaps, and news without a reload. Every page is complete without this file.
"use strict";
const grids = () => document.querySelectorAll("table[role=grid]");
const tip = document.body.appendChild(document.createElement("div"));
tip.className = "tip";
tip.hidden = true;

function prepare() {
  document.querySelectorAll("td[title]").forEach((cell) => {
    cell.dataset.tip = cell.title;
    cell.removeAttribute("title");
  });
  document.querySelectorAll("[data-copy]").forEach((one) => { one.hidden = false; });
}
function show(cell) {
  tip.textContent = cell.dataset.tip;
  tip.hidden = false;
  const at = cell.getBoundingClientRect();
  const left = Math.max(4, Math.min(at.left, document.documentElement.clientWidth - tip.offsetWidth - 4));
  const above = at.top - tip.offsetHeight - 6;
  tip.style.left = left + "px";
  tip.style.top = (above > 4 ? above : at.bottom + 6) + "px";
}
const hide = () => { tip.hidden = true; };
const cellOf = (event) => event.target.closest && event.target.closest("td[data-tip]");

function go(cell, key, ctrl) {
  const row = cell.parentNode, rows = [...row.parentNode.rows], cells = [...row.cells];
  const first = cells.findIndex((one) => one.tagName === "TD");
  let y = rows.indexOf(row), x = cells.indexOf(cell);
  const last = cells.length - 1, bottom = rows.length - 1;
  if (key === "ArrowRight") x++;
  else if (key === "ArrowLeft") x--;
  else if (key === "ArrowDown") y++;
  else if (key === "ArrowUp") y--;
  else if (key === "Home") { x = first; if (ctrl) y = 0; }
  else if (key === "End") { x = last; if (ctrl) y = bottom; }
  else if (key === "PageDown") y = Math.min(bottom, y + 10);
  else if (key === "PageUp") y = Math.max(0, y - 10);
  else return null;
  const next = rows[y] && x >= first && rows[y].cells[x];
  return next || cell;
}
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey;
  const box = event.key === "/" && !typing && document.querySelector(".search input[type=search]");
  if (box) {
    event.preventDefault();
    box.select();
  }
  if (event.key === "Escape") hide();
  const cell = event.target.matches("table[role=grid] td") && event.target;
  const link = cell && event.key === "Enter" && cell.querySelector("a");
  if (link) link.click();
  const next = cell && !event.altKey && !event.metaKey && go(cell, event.key, event.ctrlKey);
  if (!next) return;
  event.preventDefault();
  next.closest("table").querySelectorAll("td[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
  next.tabIndex = 0;
  next.focus();
});
document.addEventListener("focusin", (event) => { const cell = cellOf(event); if (cell) show(cell); else hide(); });
document.addEventListener("mouseover", (event) => { const cell = cellOf(event); if (cell) show(cell); else hide(); });
document.addEventListener("scroll", hide, true);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const area = document.getElementById(button.dataset.copy);
  area.select();
  try {
    await navigator.clipboard.writeText(area.value);
  } catch { document.execCommand("copy"); } // a page without https may not use the clipboard itself
  button.textContent = "Copied";
  document.querySelector("#news").textContent = "Copied.";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});

// News. What is read is not changed under the reader's eyes: a page that waits for statistics is filled, and what else is
// new is announced. A page that cannot be checked says so.
let tag = null, timer = 0, waiting = null, checked = new Date();
const page = () => document.querySelector("main");
const clock = (at) => at.toISOString().slice(11, 16) + " UTC";
const away = "the registry does not answer.";
const REASONS = {
  401: "you are no longer signed in, or the link of this page has ended. Load it again to sign in.",
  403: "you may no longer see this page.",
  404: "this page is no longer there, or no longer open to you.",
};

const newer = (next) => next.dataset.revision !== page().dataset.revision && next.dataset.revision;
const button = (next) => newer(next) ? `Show revision ${newer(next)}` : "Show it";
function announce(text, bad, label) {
  const bar = document.querySelector("#watch"), [words, show] = bar.children;
  if (words.textContent !== text) words.textContent = text; // read aloud once
  show.hidden = !label;
  show.textContent = label || "";
  bar.classList.toggle("bad", bad);
  bar.hidden = !text;
}
function tell() {
  document.querySelector("#printed").textContent = `${checked.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })}, ${clock(checked)}`;
  document.querySelector("#checked").textContent = Number(page().dataset.every) ? `Checked ${clock(checked)}` : "";
}
function stale(reason) {
  announce(`Not checked since ${clock(checked)}: ${reason}`, true, waiting && button(waiting));
}
function place() {
  const cell = document.activeElement;
  if (!cell.matches("table[role=grid] td")) return null;
  return [[...grids()].indexOf(cell.closest("table")), cell.parentNode.rowIndex, cell.cellIndex];
}
const writing = () => document.activeElement.matches("main input, main select, main textarea");

const soon = () => AbortSignal.timeout ? AbortSignal.timeout(20000) : undefined; // a server that hangs is away

// The stream of the project's feed (live.js): whether it speaks, and whether the page was checked at its usual time since it
// began to and since it last told what concerns the page. What follows from an event may come later, and untold.
const feed = { speaks: false, sure: false, doubts: 0 };
function doubt() {
  feed.sure = false;
  feed.doubts++;
}
let asking = Promise.resolve();
const refresh = (usual) => { asking = asking.then(() => check(usual === true)); }; // in order: a late answer is no news

async function check(usual) {
  clearTimeout(timer);
  const { doubts } = feed;
  if (Number(page().dataset.every) && !document.hidden) {
    try {
      const headers = tag ? { "If-None-Match": `"${tag}"` } : {};
      const answer = await fetch(location.href, { headers, cache: "no-store", signal: soon() });
      if (answer.ok || answer.status === 304) {
        await arrived(answer);
        if (usual) feed.sure = feed.speaks && feed.doubts === doubts;
      } else failed(REASONS[answer.status] || away);
    } catch { failed(away); }
  }
  plan();
}
function failed(reason) {
  doubt();
  stale(reason);
}
function plan() {
  clearTimeout(timer);
  const { every, seldom } = page().dataset, usual = Number(every) || 60;
  const seconds = feed.sure ? Number(seldom) : usual;
  timer = setTimeout(refresh, 1000 * seconds, true);
}
async function arrived(answer) {
  const fresh = (answer.headers.get("ETag") || "").replace(/^W\/|"/g, "");
  const text = answer.status === 200 && tag && fresh !== tag ? await answer.text() : null;
  checked = new Date();
  if (answer.status === 200) tag = fresh;
  tell();
  const next = text && new DOMParser().parseFromString(text, "text/html").querySelector("main");
  if (next) waiting = next;
  if (!waiting) announce("", false);
  else if (mayFill(waiting)) replace();
  else announce(words(waiting), false, button(waiting));
}
function mayFill(next) {
  const now = page();
  if (now.dataset.shown === undefined) return true; // a page to watch, as the status is
  return now.dataset.every === "2" && now.dataset.shown === next.dataset.shown && !writing();
}
function words(next) {
  const texts = (main) => [...main.querySelectorAll("table[role=grid] td:not(.corner)")].map((one) => one.firstChild ? one.firstChild.nodeValue : "");
  const now = texts(page()), then = texts(next), revision = newer(next);
  if (!revision) return "This page has changed since you opened it.";
  const count = now.length === then.length ? now.filter((one, i) => one !== then[i]).length : 0;
  return `Revision ${revision} has arrived` + (count ? ` (${count} ${count === 1 ? "cell" : "cells"} changed).` : ".");
}
function replace() {
  const main = page(), next = waiting, at = place();
  const opened = [...main.querySelectorAll("details")].map((one) => one.open);
  const scrolled = [...main.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
  const { scrollX, scrollY } = window;
  waiting = null;
  announce("", false);
  const [bar, made] = [main, next].map((one) => one.querySelector("[data-bar]"));
  if (bar && made && bar.dataset.unsent) made.replaceWith(bar); // what was changed in it and not sent stays
  main.replaceWith(next);
  prepare();
  next.querySelectorAll("details").forEach((one, i) => { one.open = opened[i] || one.open; });
  next.querySelectorAll(".scroll").forEach((one, i) => { if (scrolled[i]) [one.scrollLeft, one.scrollTop] = scrolled[i]; });
  document.querySelector("#news").textContent = "This page has new results.";
  const table = at && grids()[at[0]], row = table && table.rows[at[1]], cell = row && row.cells[at[2]];
  if (cell) {
    table.querySelectorAll("td[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
    cell.tabIndex = 0;
    cell.focus({ preventScroll: true });
  }
  window.scrollTo(scrollX, scrollY);
}

// The bar of results: what is chosen in a list with the pointer is asked at once, in place; the address is the question.
// With the keys one passes other options on the way to one: Enter asks, and the button does.
let asked = location.search;
async function visit(query, enter) {
  const field = document.activeElement.name, address = location.pathname + query;
  const answer = await fetch(address, { headers: { Accept: "text/html" }, signal: soon() }).catch(() => null);
  if (!answer || !(answer.headers.get("Content-Type") || "").startsWith("text/html")) return location.assign(address);
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (enter) history.pushState(null, "", answer.url);
  asked = location.search;
  document.title = next.title;
  for (const part of [".crumbs", ".copied", "footer"]) {
    const [old, made] = [document, next].map((one) => one.querySelector(part));
    if (old && made) old.replaceWith(made);
  }
  document.querySelectorAll(".chooser[open]").forEach((one) => { one.open = false; });
  waiting = next.querySelector("main");
  tag = waiting.dataset.tag || null;
  replace();
  tell();
  const again = field && page().querySelector(`[data-bar] [name="${CSS.escape(field)}"]`);
  if (again) again.focus({ preventScroll: true });
  plan();
}
const ask = (query, enter) => { asking = asking.then(() => visit(query(), enter)); };
let keyed = false;
document.addEventListener("pointerdown", () => { keyed = false; }, true);
document.addEventListener("keydown", (event) => {
  keyed = true;
  if (event.key !== "Enter" || !event.target.matches("[data-bar][data-unsent] select")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
}, true);
document.addEventListener("input", ({ target }) => { if (target.form && target.form.matches("[data-bar]")) target.form.dataset.unsent = "yes"; });
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-bar]")) return;
  event.preventDefault();
  delete event.target.dataset.unsent;
  const form = new FormData(event.target), stays = form.get("was") === form.get("experiment");
  const sent = [...form].filter(([name, text]) => text && !(stays && name === "was"));
  ask(() => `?${new URLSearchParams(sent)}`, true);
});
document.addEventListener("change", ({ target }) => {
  if (!keyed && target.matches("[data-bar] select")) target.form.requestSubmit();
});
window.addEventListener("popstate", () => {
  const bar = document.querySelector("[data-bar]");
  if (!bar || location.search === asked) return;
  delete bar.dataset.unsent;
  ask(() => location.search, false);
});
document.querySelector("#watch button").addEventListener("click", () => { if (waiting) replace(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
prepare();
tell();
tag = page().dataset.tag || null;
plan();
