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
      const texts = [...document.querySelectorAll("table[role=grid] td, .toolbar a, h1, h2:not(.sr), dt, dd, button, label")].filter(cut);
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

for (const medium of [{ media: "print" }, { forcedColors: "active" }]) {
  const { context, page } = await open(looks.dark, plan.grid);
  await page.emulateMedia(medium);
  const style = (selector, name) => page.evaluate(([one, of]) => getComputedStyle(document.querySelector(one))[of], [selector, name]);
  const found = { what: medium.media || "forced colors" };
  found.ground = await style("body", "backgroundColor");
  found.cell = await style("table[role=grid] td.c0, table[role=grid] td.c1, table[role=grid] td.c2", "backgroundColor");
  found.exact = await style("table[role=grid] td.bare", "printColorAdjust");
  found.hatch = await style("table[role=grid] td.bare", "backgroundImage");
  found.scroll = await style(".scroll", "overflowX");
  found.hidden = await page.evaluate(() => [...document.querySelectorAll("form, .toolbar, .top")].every((one) => one.offsetParent === null));
  found.folded = await page.evaluate(() => [...document.querySelectorAll("details:not([open]) > :not(summary)")].map((one) => one.checkVisibility({ contentVisibilityProperty: true, contentVisibilityAuto: true }) && one.getBoundingClientRect().height > 0));
  found.columns = await style(".columns", "display");
  found.wrap = await style("#peaks ~ .scroll th", "overflowWrap");
  found.pressed = [await style(".options a[aria-current]", "backgroundColor"), await style(".options a:not([aria-current])", "backgroundColor")];
  await page.goto(plan.paths.light.find((path) => path.includes("/rankings?")));
  found.forms = await page.evaluate(() => [...document.querySelectorAll("form")].filter((one) => one.offsetParent !== null).length);
  say(found);
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
  await context.clearCookies();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.locator("#watch:not([hidden])").waitFor();
  const ended = await page.locator("#watch").innerText();
  await context.addCookies(cookies);
  await page.reload();
  const readable = await page.evaluate(() => document.cookie);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(plan.secret);
  const out = await page.locator("h1").innerText();
  say({ what: "signing", ended, before, after, out, readable, cookies: cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })), complaints });
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
  say({ what: "refresh", statuses, kept, news: await page.locator("#news").textContent(), complaints });
  const look = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  const bar = page.locator("#watch:not([hidden])");
  const cells = () => page.locator("table[role=grid] td:not(.corner)").evaluateAll((all) => all.map((one) => one.firstChild && one.firstChild.nodeValue));
  const first = await cells();
  await page.setViewportSize({ width: 150, height: 500 });
  await page.locator("section.picture .scroll").evaluate((one) => { one.scrollLeft = 20; });
  say({ what: "revising" });
  await told.next();
  await look();
  await bar.waitFor();
  const announced = await bar.locator("span").innerText(), unchanged = JSON.stringify(await cells()) === JSON.stringify(first);
  await bar.locator("button").click();
  await bar.waitFor({ state: "detached" });
  const then = await cells();
  const scrolled = await page.locator("section.picture .scroll").evaluate((one) => one.scrollLeft);
  say({ what: "revision", announced, unchanged, changed: then.filter((one, i) => one !== first[i]).length, scrolled });
  await context.setOffline(true);
  await look();
  await bar.waitFor();
  const offline = await bar.innerText();
  await context.setOffline(false);
  await look();
  await bar.waitFor({ state: "detached" });
  say({ what: "away", offline, checked: await page.locator("#checked").innerText() });
  await context.close();
}
await browser.close();
process.exit(0); // the open input would keep it running
