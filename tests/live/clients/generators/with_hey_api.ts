// The same session with the client of @hey-api/openapi-ts.
import { given, grid } from "./given";
import { createClient } from "./hey/client";
import * as registry from "./hey/sdk.gen";
import type { GridIn, PublishGridData } from "./hey/types.gen";

const { base, token, project } = given;
const client = createClient({ baseUrl: base, auth: () => token });
const NOBODY = "00000000-0000-7000-8000-000000000000";

async function session() {
  const publish = (body: GridIn, headers: PublishGridData["headers"] = {}) =>
    registry.publishGrid({ client, path: { project }, headers, body });
  const small = await publish(grid("small", [90, 80, 70, 60]));
  const large = await publish(grid("large", [95, 90, 85, null]));
  if (!small.data || !large.data) throw new Error("not published");

  const path = { grid: small.data.id };
  const headers = { Prefer: "wait=20" };
  const trends = await registry.getStatistics({ client, path, query: { part: "trends" }, headers });
  if (trends.data?.state !== "ready") throw new Error("not computed");
  const query = { experiment: "length", metric: "accuracy" };
  const ranking = await registry.getRanking({ client, path: { project }, query, headers });
  if (ranking.data?.state !== "ready") throw new Error("not ranked");

  const list = (more: object) => registry.listGrids({ client, path: { project }, query: { sort: "model", ...more } });
  const first = await list({ limit: 1 });
  const second = await list({ limit: 1, cursor: first.data?.next ?? undefined });
  const labelled = await list({ labels: { "label.seed": "0" } });
  const csv = await registry.getCellsCsv({ client, path, parseAs: "text" });
  const png = await registry.getHeatmapPng({ client, path });
  const bytes = png.data instanceof Blob ? await png.data.arrayBuffer() : new ArrayBuffer(0);

  const missing = await registry.getGrid({ client, path: { grid: NOBODY } });
  const taken = await publish(grid("small", [1, 2, 3, 4]), { "If-None-Match": "*" });
  const invalid = await publish(grid("small", [1, 2, 3]));
  const [series] = trends.data.series ?? [];
  return {
    slope: series !== undefined && "slope" in series ? series.slope : undefined,
    ranked: ranking.data.ranking?.map((one) => one.name),
    pages: [first, second].map((page) => page.data?.items.map((item) => item.model)),
    last: second.data?.next,
    labelled: labelled.data?.items.map((item) => item.model),
    csv: csv.data?.split("\n")[0],
    png: Array.from(new Uint8Array(bytes).slice(1, 4)),
    missing: [missing.response?.status, missing.error?.title],
    taken: [taken.response?.status, taken.error?.title],
    invalid: [invalid.response?.status, invalid.error?.errors?.[0].pointer],
  };
}

session().then((told) => console.log(JSON.stringify(told)));
