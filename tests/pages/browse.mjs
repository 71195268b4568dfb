// What only a browser can say about the pages. Reads a plan as JSON from the first argument, writes findings as JSON
// lines: {"what", ...}. After {"what": "waiting"} it goes on when a line comes in.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const plan = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const say = (found) => process.stdout.write(JSON.stringify(found) + "\n");
const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const browser = await chromium.launch({
  executablePath: plan.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"],
});
const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

async function open(options, path) {
  const context = await browser.newContext({ baseURL: plan.base, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(path);
  return { context, page, complaints };
}

for (const [look, options] of Object.entries(looks)) {
  for (const path of plan.paths[look]) {
    const { context, page, complaints } = await open(options, path);
    const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
    const clipped = await page.evaluate(() => {
      const cut = (one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== "inline";
      // What a select cuts off its options is no part of its scrollWidth. On a phone some are wider than the page.
      const narrow = (one) => {
        const width = one.offsetWidth;
        one.style.maxWidth = "none";
        const wanted = one.offsetWidth;
        one.style.maxWidth = "";
        return wanted > width && wanted <= document.querySelector("main").clientWidth;
      };
      const texts = [...document.querySelectorAll("table[role=grid] td, .toolbar a, h1, h2, dt, dd, button, label")].filter(cut);
      return [...texts, ...[...document.querySelectorAll("select")].filter(narrow)].map((one) => one.textContent.trim().slice(0, 40));
    });
    const said = [...complaints];
    await page.evaluate(axe); // as the devtools would: the policy of the page stays as it is
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const faults = violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary.slice(0, 200)}`);
    say({ what: "look", look, path, violations: faults, complaints: said, wide, clipped });
    await context.close();
  }
}

{
  const { context, page } = await open(looks.light, plan.grid);
  const at = () => page.evaluate(() => {
    const cell = document.activeElement;
    const tips = [...document.querySelectorAll(".tip")].filter((one) => !one.hidden).map((one) => one.textContent);
    const stops = document.querySelectorAll("table[role=grid] td[tabindex='0']").length;
    return { row: cell.parentNode.rowIndex, column: cell.cellIndex, tag: cell.tagName, tip: tips[0] || "", stops };
  });
  await page.locator("table[role=grid] td[tabindex='0']").focus();
  const walk = [await at()];
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "End", "ArrowRight", "Home", "Control+End", "ArrowDown", "Control+Home", "PageDown", "Escape"]) {
    await page.keyboard.press(key);
    walk.push({ key, ...(await at()) });
  }
  await page.keyboard.press("Tab");
  say({ what: "keyboard", walk, after: await page.evaluate(() => document.activeElement.closest("table[role=grid]") === null) });
  const cell = page.locator("table[role=grid] tbody tr:first-of-type td").first();
  await cell.scrollIntoViewIfNeeded(); // scrolling hides the tip
  await page.locator("h1").hover();
  await cell.hover();
  await page.locator(".tip:not([hidden])").waitFor();
  say({ what: "pointer", ...(await at()), titles: await page.locator("td[title]").count() });
  await context.close();
}

{
  const { context, page, complaints } = await open({ ...looks.light, javaScriptEnabled: false }, plan.grid);
  const text = await page.locator("main").innerText();
  say({ what: "no script", text, cells: await page.locator("table[role=grid] td:not(.corner)").count(), tips: await page.locator("td[title]").count(), complaints });
  await page.getByRole("button", { name: "dark" }).click();
  say({ what: "theme", theme: await page.locator("html").getAttribute("data-theme"), ground: await page.locator("body").evaluate((one) => getComputedStyle(one).backgroundColor) });
  await context.close();
}

{
  const { context, page, complaints } = await open(looks.light, plan.secret);
  const before = await page.locator("h1").innerText();
  await page.getByLabel("Token").fill(plan.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**" + plan.secret);
  const after = await page.locator("h1").innerText();
  const cookies = await context.cookies();
  const readable = await page.evaluate(() => document.cookie);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(plan.secret);
  const out = await page.locator("h1").innerText();
  say({ what: "signing", before, after, out, readable, cookies: cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })), complaints });
  await context.close();
}

{
  const { context, page, complaints } = await open(looks.light, plan.pending);
  const statuses = [];
  page.on("response", (response) => { if (response.url().endsWith(plan.pending)) statuses.push(response.status()); });
  await page.locator("table[role=grid] td[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForResponse((response) => response.url().endsWith(plan.pending) && response.status() === 304);
  say({ what: "waiting" });
  await told.next();
  await page.locator("#trends").waitFor();
  const kept = await page.evaluate(() => [document.activeElement.tagName, document.activeElement.cellIndex]);
  say({ what: "refresh", statuses, kept, news: await page.locator("#news").innerText(), complaints });
  await context.close();
}
await browser.close();
process.exit(0); // the open input would keep it running
