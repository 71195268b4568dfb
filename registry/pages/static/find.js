// Choosers: a long list narrows while one types, a name that was typed is ticked at once, and one list is open at a
// time. Without this file the lists are longer, and a typed name is taken when the form is sent.
"use strict";
const choosers = () => document.querySelectorAll("details.chooser");
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
  const open = event.key === "Escape" && event.target.closest && event.target.closest("details.chooser[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  choosers().forEach((one) => { if (one.open && !one.contains(event.target)) one.open = false; });
});
