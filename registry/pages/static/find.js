// Choosers: a long list narrows while one types, a name that was typed is ticked at once, and one list is open at a
// time. Without this file the lists are longer, and a typed name is taken when the form is sent.
"use strict";
const choosers = () => document.querySelectorAll("details:is(.chooser, .more)");
const fold = (text) => text.normalize("NFKC").toLowerCase();

document.addEventListener("input", (event) => {
  if (!event.target.matches(".chooser .narrow")) return;
  const words = fold(event.target.value).split(/\s+/);
  event.target.closest("fieldset").querySelectorAll("label").forEach((label) => {
    const name = fold(label.querySelector("span").textContent), box = label.querySelector("input");
    label.hidden = !box.checked && !words.every((word) => name.includes(word));
  });
});
document.addEventListener("change", (event) => {
  const field = event.target;
  if (!field.matches(".chooser .adds input") || !field.value) return;
  const label = document.createElement("label"), box = document.createElement("input"), name = document.createElement("span");
  box.type = "checkbox";
  box.name = field.name;
  box.value = name.textContent = field.value;
  box.checked = true;
  label.append(box, name);
  field.closest("label").before(label);
  field.value = "";
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches(".chooser .narrow") && event.key === "Enter") event.preventDefault();
  const open = event.key === "Escape" && event.target.closest && event.target.closest("details:is(.chooser, .more)[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  choosers().forEach((one) => { if (one.open && !one.contains(event.target)) one.open = false; });
});

// The box in the head finds while one types: the first results of its page below it, as links.
let sought = 0;
document.addEventListener("input", (event) => {
  const box = event.target;
  if (!box.matches(".search input[type=search]")) return;
  clearTimeout(sought);
  sought = setTimeout(async () => {
    const form = box.form, list = form.querySelector("ul") || form.appendChild(document.createElement("ul"));
    const words = box.value.trim();
    const answer = words && await fetch(form.action + "?" + new URLSearchParams(new FormData(form)));
    if (box.value.trim() !== words) return;
    const page = new DOMParser().parseFromString(answer && answer.ok ? await answer.text() : "", "text/html");
    const links = [...page.querySelectorAll(".found li")].slice(0, 10);
    list.replaceChildren(...links.map((one) => {
      one.querySelectorAll("a + a").forEach((more) => more.remove());
      return one;
    }));
  }, 150);
});
document.addEventListener("keydown", (event) => {
  const form = event.target.closest && event.target.closest("form.search"), list = form && form.querySelector("ul");
  if (!list) return;
  const places = [form.querySelector("input[type=search]"), ...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const next = step && places[places.indexOf(document.activeElement) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
  if (event.key === "Escape") list.replaceChildren();
});
document.addEventListener("click", (event) => {
  const list = document.querySelector(".search ul");
  if (list && !event.target.closest(".search")) list.replaceChildren();
});
