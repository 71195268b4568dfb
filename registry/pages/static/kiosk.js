// A page on a wall: says how long ago it was checked, and goes on to the next page when that one answers.
"use strict";
setInterval(tell, 1000);
const { seconds } = document.documentElement.dataset;
let next = document.documentElement.dataset.next;

// The page after one that is gone, which stays in the rotation.
function following(gone) {
  const url = new URL(gone, location.href);
  const [first, ...rest] = url.searchParams.getAll("rotate");
  if (!first) return "";
  const [path, query] = first.split(/\?(.*)/s);
  const left = [...url.searchParams].filter(([name]) => !["kiosk", "seconds", "rotate"].includes(name));
  const itself = url.pathname + (left.length ? "?" + new URLSearchParams(left) : "");
  const rotation = new URLSearchParams([["kiosk", "1"], ["seconds", seconds], ...[...rest, itself].map((one) => ["rotate", one])]);
  return `${path}?${rotation}${query ? "&" + query : ""}`;
}
async function goOn() {
  try {
    const answer = await fetch(next, { cache: "no-store", signal: soon() });
    if (answer.ok) {
      location.replace(next);
      return;
    }
    if (answer.status < 500) next = following(next) || next;
    stale(REASONS[answer.status] || away);
  } catch { stale(away); }
  setTimeout(goOn, 1000 * seconds);
}
if (next) setTimeout(goOn, 1000 * seconds);

// The largest size at which the whole page is on the screen. A page that fits at none is cut at its foot, and that is said.
const SIZES = [2.5, 2.2, 2, 1.75, 1.5, 1.35, 1.2, 1.1, 1, 0.9, 0.8];
const share = (seen, whole) => Math.floor(100 * seen / whole);
function fit() {
  const main = page(), tables = [...main.querySelectorAll(".scroll")];
  const high = () => main.scrollHeight <= main.clientHeight + 1;
  const beyond = (one) => one.scrollWidth > one.clientWidth + 4; // a heatmap has margins of 2 pixels
  const wide = () => ![main, ...tables].some(beyond);
  const fits = (sizes, test) => sizes.find((one) => { main.style.zoom = one; return test(); });
  if (!fits(SIZES, () => high() && wide()) && !fits([1, 0.9, 0.8], wide)) main.style.zoom = 1;
  const cut = tables.find(beyond);
  const parts = [
    ...(high() ? [] : [`${share(main.clientHeight, main.scrollHeight)} % of its height`]),
    ...(cut ? [`${share(cut.clientWidth, cut.scrollWidth)} % of the width of a table`] : []),
  ];
  document.querySelector("#cut").textContent = parts.length ? ` · The screen shows the part of this page that fits: ${parts.join(", ")}` : "";
}
fit();
window.addEventListener("resize", fit);
new MutationObserver(fit).observe(document.body, { childList: true }); // news take the place of main
new ResizeObserver(fit).observe(document.querySelector("footer")); // it grows with what the bar says
