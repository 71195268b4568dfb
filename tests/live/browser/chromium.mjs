// What the scripts for the browser share: the plan as JSON in the first argument, findings as JSON lines {"what", ...},
// one browser, how pages are opened, and what is wrong with one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const plan = JSON.parse(process.argv[2]);
export const say = (found) => process.stdout.write(JSON.stringify(found) + "\n");
const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Ask for something to be done on the server, and go on with its answer when it is done.
export const act = async (what) => { say({ what }); return JSON.parse((await told.next()).value); };
export const browser = await chromium.launch({
  executablePath: plan.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"],
});
export const looks = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

export async function open(options, path) {
  const context = await browser.newContext({ baseURL: plan.base, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const answer = await page.goto(path);
  return { context, page, complaints, answer };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// Rules that may find something else in the dark or on a phone; the others read the markup, which is the same.
const rules = { dark: ["color-contrast", "link-in-text-block"], phone: ["color-contrast", "scrollable-region-focusable", "meta-viewport", "target-size"] };
export async function violations(page, name) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe); // as the devtools would: the policy of the page stays as it is
  const options = { resultTypes: ["violations"], ...(rules[name] ? { runOnly: rules[name] } : { rules: { "target-size": { enabled: true } } }) };
  return (await page.evaluate((asked) => window.axe.run(document, asked), options)).violations;
}

// A tab for each purpose, that goes from page to page: a new window for each takes longer than the look.
const tabs = new Map();
export async function tab(name, options, path) {
  if (!tabs.has(name)) tabs.set(name, await open(options, "about:blank"));
  const found = tabs.get(name);
  found.complaints.length = 0;
  return { ...found, answer: await found.page.goto(path) };
}

// By how much the page is wider than its window, at each of these widths.
export async function wider(page, widths) {
  const found = {};
  for (const width of widths) {
    await page.setViewportSize({ width, height: 844 });
    found[width] = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  }
  return found;
}

// The page as it stands in one look: are texts cut off, what axe finds.
export async function look(page, name) {
  await page.emulateMedia({ colorScheme: looks[name].colorScheme });
  await page.setViewportSize(looks[name].viewport);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // until it is drawn so
  const clipped = await page.evaluate(() => {
    const cut = (one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== "inline";
    // What a select cuts off its options is no part of its scrollWidth. On a phone some are wider than the page.
    const narrow = (one) => {
      const width = one.offsetWidth;
      one.style.maxWidth = "none";
      const wanted = one.offsetWidth;
      one.style.maxWidth = "";
      return wanted > width && wanted <= document.querySelector("main").clientWidth;
    };
    const texts = [...document.querySelectorAll("table[role=grid] td, .toolbar a, .more > summary b, .settings .scroll, h1, h2:not(.sr), dt, dd, button, label")].filter(cut);
    const selects = [...document.querySelectorAll("select")].filter((one) => one.checkVisibility({ contentVisibilityAuto: true }) && narrow(one));
    // The ends of a plot's scale, written below the line of its row, not across it.
    const struck = [...document.querySelectorAll(".data:not(.stacked) .plot > span")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().top < one.closest("td").getBoundingClientRect().bottom);
    return [...texts, ...selects, ...struck].map((one) => `${one.name ?? ""} ${one.textContent.trim().slice(0, 40)} ${one.offsetWidth}`);
  });
  const faults = (await violations(page, name)).map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)} ${one.nodes[0].failureSummary.slice(0, 200)}`);
  return { look: name, violations: faults, clipped };
}
