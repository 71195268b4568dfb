// News by the stream of the feed. The clock of the page is stopped where a poll could bring the same.
import { act, browser, looks, open, plan, say } from "./chromium.mjs";

const pending = await act("publishing what is told");
const asksByItself = (page) => page.evaluate(() => { globalThis.plan = () => clearTimeout(timer); globalThis.plan(); });
const speaks = (page) => page.waitForFunction(() => feed.speaks);
const bar = (page) => page.locator("#watch:not([hidden]) span");
const isStream = (request) => new URL(request.url()).pathname.endsWith("/events");

{
  const { context, page, complaints } = await open(looks.light, pending);
  const asked = [];
  page.on("request", (request) => { if (request.url().endsWith(pending)) asked.push(request.url()); });
  await speaks(page);
  await asksByItself(page);
  const before = asked.length;
  await act("computing");
  await page.locator("#trends").waitFor();
  const filled = asked.length - before;
  await page.evaluate(() => { last = 0; });
  const settled = asked.length;
  await act("others");
  await act("revising what is told");
  await bar(page).waitFor();
  say({ what: "told", filled: filled > 0, asked: asked.length - settled, announced: await bar(page).innerText(), complaints });
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { get: () => value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  const cursor = await page.evaluate(() => cursor);
  const [closed] = await Promise.all([page.waitForEvent("requestfailed", isStream), hide(true)]);
  const quiet = await page.evaluate(() => [feed.speaks, stream]);
  const [resumed] = await Promise.all([page.waitForRequest(isStream), hide(false)]);
  await speaks(page);
  say({ what: "hidden", closed: isStream(closed), quiet, cursor, resumed: (await resumed.allHeaders())["last-event-id"] });
  await context.close();
}

{
  const context = await browser.newContext({ baseURL: plan.base, ...looks.light });
  const page = await context.newPage();
  let refused = 0;
  await context.route(isStreamUrl, (route) => { refused++; return route.fulfill({ status: 503, headers: { "Retry-After": "3" } }); });
  await page.goto(await act("publishing what is not"));
  await act("computing");
  await page.locator("#trends").waitFor();
  say({ what: "refused", refused: refused > 0, speaks: await page.evaluate(() => feed.speaks), checked: await page.locator("#checked").innerText() });
  await context.close();
}
function isStreamUrl(url) { return url.pathname.endsWith("/events"); }

{
  // Five windows in sight, and what a sixth asks for still gets a connection.
  const context = await browser.newContext({ baseURL: plan.base, ...looks.light });
  const pages = await Promise.all([0, 1, 2, 3, 4].map(() => context.newPage()));
  for (const one of pages.slice(0, 4)) {
    await one.goto(pending);
    await speaks(one);
  }
  await pages[4].goto(pending);
  await pages[4].waitForFunction(() => refused > 0);
  say({ what: "windows", speak: await Promise.all(pages.map((one) => one.evaluate(() => feed.speaks))) });
  await context.close();
}
