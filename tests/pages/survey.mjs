// Every kind of page in every look, pages of large projects, paper, walls, and a question asked by clicks alone.
import { browser, look, looks, open, plan, say, tab } from "./chromium.mjs";

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
async function reach(storageState, path) {
  const { page } = await tab("reach", { ...looks.light, storageState }, path);
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")];
    const reachable = all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !one.closest("details:not([open]) > :not(summary)"));
    reachable.forEach((one, i) => { one.dataset.stop = i; });
    return reachable.length;
  });
  await page.evaluate(() => {
    window.reached = [];
    document.addEventListener("focusin", (event) => { window.reached.push(event.target.dataset.stop); });
  });
  const most = Math.min(wanted, 150);
  const all = () => page.evaluate((most) => new Set(window.reached.filter((one) => Number(one) < most)).size === most, most);
  for (let i = 0; i < most + 60 && !(i >= most && i % 5 === 0 && await all()); i++) await page.keyboard.press("Tab");
  const reached = new Set((await page.evaluate(() => window.reached)).filter((one) => one !== undefined));
  const missed = await page.evaluate(([most, had]) => [...document.querySelectorAll("[data-stop]")].slice(0, most).filter((one) => !had.includes(one.dataset.stop)).map((one) => one.outerHTML.slice(0, 120)), [most, [...reached]]);
  say({ what: "reach", path, wanted, missed });
}

async function weigh(name, path) {
  const { page, answer } = await tab(`large ${name}`, looks[name], path);
  const sent = (await answer.request().sizes()).responseBodySize;
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  const cells = await page.locator("table.map td:not(.corner)").count();
  const pictures = await page.locator("main img").evaluateAll((all) => all.map((one) => one.complete && one.naturalWidth > 0));
  say({ what: "large", look: name, path, status: answer.status(), sent, wide, cells, pictures, text: (await page.locator("main").textContent()).replace(/\s+/g, " ") });
}

// On paper every head of a column, also of a table that is folded away on the screen.
async function print(storageState, path, file) {
  const { page } = await tab("paper", { ...looks.dark, storageState }, path);
  const heads = await page.locator("main table").evaluateAll((all) => all.map((one) => [...one.querySelectorAll("thead th")].map((head) => head.textContent.trim()).filter(Boolean)));
  await page.pdf({ path: file, preferCSSPageSize: true });
  say({ what: "printed", path, file, heads });
}

async function hang(path) {
  const { page, complaints } = await tab("wall", { colorScheme: "dark", viewport: { width: 1920, height: 1080 } }, path);
  await page.locator("#checked:not(:empty)").waitFor();
  const found = await page.evaluate(() => {
    const main = document.querySelector("main"), root = document.scrollingElement;
    const tables = [...main.querySelectorAll(".scroll")].filter((one) => one.checkVisibility());
    return {
      scrolls: [root.scrollWidth - innerWidth, root.scrollHeight - innerHeight],
      high: main.scrollHeight - main.clientHeight,
      wide: Math.max(0, ...[main, ...tables].map((one) => one.scrollWidth - one.clientWidth)),
      zoom: Number(main.style.zoom), cut: document.querySelector("#cut").textContent,
    };
  });
  say({ what: "hung", path, ...found, complaints: [...complaints] });
}

async function ask() {
  const { context, page } = await open(looks.light, "/");
  let clicks = 0;
  const click = async (one) => { clicks += 1; await one.click(); };
  await click(page.getByRole("link", { name: plan.question.project, exact: true }));
  await click(page.getByRole("link", { name: `rank ${plan.question.experiment}` }));
  clicks += 1;
  await page.getByLabel("Context from").selectOption(plan.question.from);
  await click(page.getByRole("button", { name: "Rank", exact: true }));
  await page.waitForURL("**Context**");
  const first = await page.evaluate(() => document.querySelector("main h1 + *").innerText);
  say({ what: "question", clicks, first, url: page.url(), text: await page.locator("main").innerText() });
  await context.close();
}

const storageState = await signedIn();
const each = async (all, act) => { for (const one of all) await act(one); };
await ask();
await Promise.all([
  each(Object.entries(plan.kinds), ([name, paths]) => each(paths, (path) => look(name, { ...looks[name], storageState }, path))),
  each(["light", "phone"], (name) => each(plan.large, (path) => weigh(name, path)))
    .then(() => each(plan.walls, hang))
    .then(() => each(plan.printed, ([path, file]) => print(storageState, path, file)))
    .then(() => each(plan.reach, (path) => reach(storageState, path))),
]);
await browser.close();
process.exit(0); // the open input would keep it running
