// Everything that only a browser can say about the pages, in one browser: what each page is, while others are used.
import { browser } from "./chromium.mjs";

await Promise.all([import("./survey.mjs"), import("./browse.mjs").then(() => import("./live.mjs"))]);
await browser.close();
process.exit(0); // the open input would keep it running
