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
  if (event.key === "Escape") hide();
  const cell = event.target.matches("table[role=grid] td") && event.target;
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

let tag = null, timer = 0;
function place() {
  const cell = document.activeElement;
  if (!cell.matches("table[role=grid] td")) return null;
  return [[...grids()].indexOf(cell.closest("table")), cell.parentNode.rowIndex, cell.cellIndex];
}
function busy() {
  const at = document.activeElement;
  return document.hidden || at.matches("main input, main select, main textarea");
}
async function refresh() {
  const main = document.querySelector("main");
  const every = Number(main.dataset.every);
  if (every && !busy()) {
    try {
      const answer = await fetch(location.href, { headers: tag ? { "If-None-Match": `"${tag}"` } : {}, cache: "no-store" });
      const fresh = (answer.headers.get("ETag") || "").replace(/^W\/|"/g, "");
      if (answer.status === 200 && tag && fresh !== tag) replace(main, await answer.text());
      if (answer.ok) tag = fresh;
    } catch { /* The server is away: look again later. */ }
  }
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * (Number(document.querySelector("main").dataset.every) || 60));
}
function replace(main, text) {
  const at = place(), opened = [...main.querySelectorAll("details")].map((one) => one.open);
  const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  if (!next) return;
  main.replaceWith(next);
  prepare();
  next.querySelectorAll("details").forEach((one, i) => { one.open = opened[i] || one.open; });
  document.querySelector("#news").textContent = "This page has new results.";
  const table = at && grids()[at[0]], row = table && table.rows[at[1]], cell = row && row.cells[at[2]];
  if (cell) { table.querySelectorAll("td[tabindex='0']").forEach((one) => { one.tabIndex = -1; }); cell.tabIndex = 0; cell.focus(); }
}
prepare();
tag = document.querySelector("main").dataset.tag || null;
timer = setTimeout(refresh, 1000 * (Number(document.querySelector("main").dataset.every) || 60));
