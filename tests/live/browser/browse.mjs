// How the pages are used: with the keyboard, without a script, on paper, in frames, and as news arrive.
import { act, looks, open, plan, say, violations } from "./chromium.mjs";

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
  found.folded = await page.evaluate(() => [...document.querySelectorAll("main details:not([open], .asked) > :not(summary)")].map((one) => one.checkVisibility({ contentVisibilityProperty: true, contentVisibilityAuto: true }) && one.getBoundingClientRect().height > 0));
  found.columns = await style(".columns", "display");
  found.wrap = await style("summary:has(#peaks) ~ .scroll th", "overflowWrap");
  found.pressed = [await style(".options a[aria-current]", "backgroundColor"), await style(".options a:not([aria-current])", "backgroundColor")];
  await page.goto(plan.ranking);
  found.forms = await page.evaluate(() => [...document.querySelectorAll("form")].filter((one) => one.offsetParent !== null).length);
  say(found);
  await context.close();
}

{
  const { context, page, complaints } = await open({ ...looks.light, javaScriptEnabled: false }, plan.grid);
  const text = await page.locator("main").innerText();
  const explained = page.locator("button.term").first();
  await explained.focus();
  await page.keyboard.press("Enter");
  const opened = page.locator(".meaning:popover-open"), meaning = await opened.innerText();
  const [word, box] = [await explained.boundingBox(), await opened.boundingBox()];
  const above = word.y - box.y - box.height, beside = word.x >= box.x && word.x + word.width <= box.x + box.width;
  await page.keyboard.press("Escape");
  const left = await page.locator(".meaning:popover-open").count();
  say({ what: "no script", meaning, above, beside, left, text, cells: await page.locator("table[role=grid] td:not(.corner)").count(), tips: await page.locator("td[title]").count(), complaints });
  await page.getByRole("button", { name: "dark" }).click();
  say({ what: "theme", theme: await page.locator("html").getAttribute("data-theme"), ground: await page.locator("body").evaluate((one) => getComputedStyle(one).backgroundColor) });
  await context.close();
}

{
  const { context, page, complaints } = await open({ ...looks.light, permissions: ["clipboard-read", "clipboard-write"] }, plan.grid);
  await page.locator(".copied summary").click();
  await page.getByRole("button", { name: "Copy" }).nth(2).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  say({ what: "copied", text: await page.evaluate(() => navigator.clipboard.readText()), complaints });
  await page.route("**/host.html", (route) => route.fulfill({
    contentType: "text/html", body: `<iframe src="/embed${plan.grid}"></iframe><iframe src="${plan.grid}"></iframe>`,
  }));
  await page.goto("/host.html");
  const [inside, whole] = page.frames().slice(1);
  say({ what: "framed", inside: await inside.locator("h1").innerText(), whole: await whole.locator("table").count() });
  await context.close();
}

{
  const { context, page, complaints } = await open(looks.light, plan.crowd);
  const chooser = page.locator("details.chooser", { has: page.locator("legend", { hasText: "Models" }) });
  await chooser.locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("MODEL 1");
  const narrowed = await chooser.locator("label:visible span").allInnerTexts();
  for (const key of ["Tab", "Space", "Tab", "Space", "Escape"]) await page.keyboard.press(key);
  const closed = await page.evaluate(() => [document.activeElement.tagName, document.querySelector("details.chooser[open]")]);
  await page.keyboard.press("Enter");
  const found = await violations(page);
  await chooser.getByRole("button", { name: "Show" }).click();
  await page.waitForURL("**model=*");
  const chosen = new URL(page.url()).searchParams.getAll("model");
  const chips = await page.locator(".chips li bdi").allInnerTexts();
  await page.getByRole("link", { name: `Take away model ${chips[0]}`, exact: true }).click();
  await page.waitForURL((url) => url.searchParams.getAll("model").length === 1);
  say({ what: "chooser", narrowed, closed, violations: found.map((one) => one.id), chosen, chips, left: await page.locator(".chips li bdi").allInnerTexts(), complaints });
  await page.locator("th[aria-sort] a").first().click();
  await page.waitForURL("**sort=updated_at*");
  const sorted = await page.locator("th[aria-sort]").getAttribute("aria-sort");
  await page.getByRole("searchbox", { name: "Search this project" }).fill("model 7");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/search?q=model+7");
  say({ what: "search", sorted, models: await page.locator("main ul.found >> nth=0 >> li a:first-child").allInnerTexts() });
  await context.close();
}

{
  const { context, page } = await open({ ...looks.phone, javaScriptEnabled: false }, plan.grid);
  const feet = [];
  for (const path of [plan.grid, plan.experiment, plan.ranking]) {
    await page.goto(path);
    const box = await page.locator("table.map tbody td:not(.corner, .bare), table.bars td.num").first().boundingBox();
    feet.push(box.y + box.height);
  }
  await page.goto(plan.grid);
  for (const key of ["Tab", "Tab", "Enter", "Tab"]) await page.keyboard.press(key);
  say({ what: "phone", feet, reached: await page.evaluate(() => document.activeElement.matches("table[role=grid] td")) });
  await context.close();
}

{
  const { context, page } = await open({ ...looks.phone, javaScriptEnabled: false }, plan.crowd);
  const chooser = page.locator("details.chooser", { has: page.locator("legend", { hasText: "Models" }) });
  await chooser.locator("summary").tap();
  for (const name of ["model 3", "model 12"]) await chooser.getByLabel(name).tap();
  const narrow = await chooser.locator(".narrow").isVisible();
  await chooser.getByRole("button", { name: "Show" }).tap();
  await page.waitForURL("**model=*");
  say({ what: "chooser without script", narrow, rows: await page.locator("tbody th[scope=row]").allInnerTexts() });
  await context.close();
}

{
  const { context, page, complaints } = await open(looks.light, plan.secret);
  const before = await page.locator("h1").innerText();
  await page.getByLabel("Token").fill(plan.reader);
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
  await act("waiting");
  await page.locator("#trends").waitFor();
  const kept = await page.evaluate(() => [document.activeElement.tagName, document.activeElement.cellIndex]);
  say({ what: "refresh", statuses, kept, news: await page.locator("#news").textContent(), complaints });
  const check = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  const bar = page.locator("#watch:not([hidden])");
  const cells = () => page.locator("table[role=grid] td:not(.corner)").evaluateAll((all) => all.map((one) => one.firstChild && one.firstChild.nodeValue));
  const first = await cells();
  await page.setViewportSize({ width: 150, height: 500 });
  await page.locator("section.picture .scroll").evaluate((one) => { one.scrollLeft = 20; });
  await act("revising");
  await check();
  await bar.waitFor();
  const announced = await bar.locator("span").innerText(), unchanged = JSON.stringify(await cells()) === JSON.stringify(first);
  await bar.locator("button").click();
  await bar.waitFor({ state: "detached" });
  const then = await cells();
  const scrolled = await page.locator("section.picture .scroll").evaluate((one) => one.scrollLeft);
  say({ what: "revision", announced, unchanged, changed: then.filter((one, i) => one !== first[i]).length, scrolled });
  await context.setOffline(true);
  await check();
  await bar.waitFor();
  const offline = await bar.innerText();
  await context.setOffline(false);
  await check();
  await bar.waitFor({ state: "detached" });
  say({ what: "away", offline, checked: await page.locator("#checked").innerText() });
  await context.close();
}
