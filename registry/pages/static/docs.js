// The filter of the contents, and the schema that a link leads to. The page is complete without this file.
"use strict";
const filter = document.querySelector("#filter");
filter.addEventListener("input", () => {
  const wanted = filter.value.trim().toLowerCase();
  document.querySelectorAll("#schemas details").forEach((one) => { one.hidden = !one.textContent.toLowerCase().includes(wanted); });
  document.querySelectorAll("#contents ul").forEach((list) => {
    const items = [...list.children];
    items.forEach((item) => { item.hidden = !`${item.textContent} ${item.firstChild.title}`.toLowerCase().includes(wanted); });
    list.hidden = list.previousElementSibling.hidden = items.every((item) => item.hidden);
  });
});
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.matches("details")) { target.open = true; target.scrollIntoView(); }
}
window.addEventListener("hashchange", openTarget);
openTarget();
