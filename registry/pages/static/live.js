// News as they happen: while the stream of the project's feed speaks, the page asks for itself when an event concerns it.
// Where there is no stream (refused, collected by a proxy, ended) it asks as often as it would without this file.
"use strict";
const SILENT = 15000, LASTING = 20000; // three heartbeats; what ends sooner counts as refused
const PLACES = 4; // streams of one browser: over HTTP/1.1 it has six connections to a server, for all windows
const ENDED = 1;
let stream = null, cursor = "", retry = 4000, refused = 0, silence = 0, again = 0, due = 0, last = 0;

function concerns({ data }) {
  const about = Object.entries(JSON.parse(page().dataset.about || "{}"));
  return about.every(([name, texts]) => data[name] === undefined || texts.includes(data[name]));
}
// Many events come together, and many pages are told at once: who waits for nothing lets others go first.
function news() {
  doubt();
  if (due) return;
  const waits = page().dataset.every === "2", pause = waits ? 1000 : 10000;
  const wait = Math.max(waits ? 0 : 1000 * Math.random(), last + pause - Date.now());
  due = setTimeout(() => { due = 0; last = Date.now(); refresh(); }, wait);
}
function take(message) {
  for (const line of message.split("\n")) {
    if (line.startsWith("id: ")) cursor = line.slice(4);
    else if (line.startsWith("retry: ")) retry = Number(line.slice(7));
    else if (line.startsWith("data: ") && concerns(JSON.parse(line.slice(6)))) news();
  }
}
function listenFor(mine) {
  clearTimeout(silence);
  silence = setTimeout(() => mine.abort(), SILENT);
}
function hear(mine, messages) {
  listenFor(mine);
  feed.speaks = true;
  messages.forEach(take);
  if (!feed.sure) return;
  checked = new Date(); // nothing was told that concerns the page
  tell();
}

// Not EventSource: it hides the heartbeats, without which a proxy that collects the stream looks like a quiet project, and
// the status of a refusal, and it cannot go on from a cursor after it was closed.
async function read(mine, address) {
  const headers = { Accept: "text/event-stream", ...(cursor ? { "Last-Event-ID": cursor } : {}) };
  const answer = await fetch(address, { headers, cache: "no-store", signal: mine.signal });
  if (!answer.ok || !(answer.headers.get("Content-Type") || "").startsWith("text/event-stream")) return answer.status;
  const reader = answer.body.getReader(), words = new TextDecoder();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return ENDED;
    const messages = (rest + words.decode(value, { stream: true })).split("\n\n");
    rest = messages.pop();
    hear(mine, messages);
  }
}
async function inPlace(run, place = 0) {
  if (!navigator.locks) return run(); // a page without https
  if (place === PLACES) return 503;
  const found = await navigator.locks.request(`stream ${place}`, { ifAvailable: true }, (lock) => lock && run());
  return found === null ? inPlace(run, place + 1) : found;
}
async function listen() {
  const address = page().dataset.feed;
  if (stream || document.hidden || !address) return;
  clearTimeout(again);
  const mine = stream = new AbortController(), began = Date.now();
  listenFor(mine);
  let status = 0;
  try { status = await inPlace(() => read(mine, address)); } catch { /* cut off, or silent */ }
  if (stream !== mine) return; // the page was hidden
  clearTimeout(silence);
  stream = null;
  refused = status === ENDED && Date.now() - began > LASTING ? 0 : refused + 1;
  if (refused) lose();
  if (status === 410) cursor = ""; // what was missed is found by asking
  if (status in REASONS) refresh();
  again = setTimeout(listen, refused ? Math.min(600000, 5000 * 2 ** (refused - 1)) * (0.5 + Math.random() / 2) : retry);
}
function lose() {
  feed.speaks = false;
  doubt();
  plan();
}
function close() {
  clearTimeout(again);
  clearTimeout(silence);
  const was = stream;
  stream = null;
  if (was) was.abort();
  lose();
}

function age(time) {
  const minutes = Math.floor((Date.now() - new Date(time.dateTime)) / 60000);
  const [count, unit] = minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
  time.textContent = minutes < 1 ? "just now" : `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}
setInterval(() => document.querySelectorAll("time[data-age]").forEach(age), 20000);

document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else listen(); });
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", listen);
