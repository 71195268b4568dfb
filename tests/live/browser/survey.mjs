// Every kind of page in every look, pages of large projects, paper, and a question asked by clicks alone.
import { look, looks, open, plan, say, tab, wider } from "./chromium.mjs";

async function signedIn() {
  const { context, page } = await open(looks.light, "/sign-in");
  await page.getByLabel("Token").fill(plan.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/");
  const state = await context.storageState();
  await context.close();
  return state;
}

// The tab key reaches every link, button and field that is shown, of a long page the first 150.
async function reach(page) {
  // What replaces a part of the page would take the focus along.
  await page.evaluate(() => { globalThis.plan = () => clearTimeout(timer); globalThis.plan(); });
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")];
    const reachable = all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !one.closest("details:not([open]) > :not(summary)"));
    reachable.forEach((one, i) => { one.dataset.stop = i; });
    window.reached = new Set();
    document.addEventListener("focusin", (event) => { window.reached.add(event.target.dataset.stop); });
    return reachable.length;
  });
  const most = Math.min(wanted, 150);
  const missed = () => page.evaluate((most) => [...document.querySelectorAll("[data-stop]")].slice(0, most).filter((one) => !window.reached.has(one.dataset.stop)).map((one) => one.outerHTML.slice(0, 120)), most);
  for (let i = 0; i < most + 60 && !(i >= most && i % 5 === 0 && (await missed()).length === 0); i++) await page.keyboard.press("Tab");
  const found = { wanted, missed: await missed() };
  await page.evaluate(() => document.activeElement?.blur()); // the link that skips the head covers it while it has the focus
  return found;
}

// One visit to a page that answers everything: its looks with all unfolded, the tab key, and the page on paper.
async function visit(tabName, storageState, { path, looks: wanted, stops, paper }) {
  const { page, complaints } = await tab(tabName, { ...looks.light, storageState }, path);
  const found = { what: "page", path, paper, looks: [] };
  if (stops) found.reach = await reach(page);
  await page.evaluate(() => document.querySelectorAll("details:not([open])").forEach((one) => { one.open = one.dataset.unfolded = true; }));
  for (const name of wanted) found.looks.push(await look(page, name));
  found.wider = await wider(page, plan.widths);
  if (paper) {
    // On paper every head of a column, also of a table that is folded away on the screen.
    await page.evaluate(() => document.querySelectorAll("[data-unfolded]").forEach((one) => { one.open = false; }));
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize(looks.dark.viewport);
    await page.pdf({ path: paper, preferCSSPageSize: true });
  }
  say({ ...found, complaints: [...complaints] });
}

async function weigh(name, path) {
  const { page, answer } = await tab(`large ${name}`, looks[name], path);
  const sent = (await answer.request().sizes()).responseBodySize;
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  const cells = await page.locator("table.map td:not(.corner)").count();
  const pictures = await page.locator("main img").evaluateAll((all) => all.map((one) => one.complete && one.naturalWidth > 0));
  const cut = await page.locator(".scroll:has(table[role=grid])").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  say({ what: "large", look: name, path, status: answer.status(), sent, wide, cut, cells, pictures, text: (await page.locator("main").textContent()).replace(/\s+/g, " ") });
}

// Every choice is one click on a link or a button, with scripts and without.
async function ask(way, look) {
  const { context, page } = await open(look, plan.question.overview); // which is `/` where there is one project
  for (const name of way) {
    const before = page.url();
    await page.getByRole("link", { name, exact: true }).or(page.getByRole("button", { name, exact: true })).click();
    await page.waitForURL((url) => url.href !== before);
  }
  const first = await page.locator("main .verdict", { hasText: "at Context at least 64000" }).innerText();
  say({ what: "question", clicks: way.length, first, url: page.url(), text: await page.locator("main").innerText() });
  await context.close();
}

const storageState = await signedIn();
const each = async (all, act) => { for (const one of all) await act(one); };
for (const look of [looks.light, { ...looks.light, javaScriptEnabled: false }, looks.phone]) await each(plan.question.ways, (way) => ask(way, look));
const waiting = [...plan.visits];
const visitor = async (name) => { while (waiting.length) await visit(name, storageState, waiting.shift()); };
await Promise.all([visitor("one"), visitor("another")]);
await each(["light", "phone"], (name) => each(plan.large, (path) => weigh(name, path)));
