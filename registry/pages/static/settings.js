// Buttons that copy a text, and forms that are sent once. Without this file the text is selected and copied by hand,
// and the server carries out a form that is sent twice once.
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  field.addEventListener("focus", () => field.select());
  if (!navigator.clipboard) continue; // only where the address is https or this machine
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    const before = button.innerHTML;
    button.textContent = "Copied";
    setTimeout(() => { button.innerHTML = before; }, 2000);
  });
}
document.addEventListener("submit", (event) => {
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
