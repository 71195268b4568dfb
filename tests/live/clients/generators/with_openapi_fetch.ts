// A session with openapi-fetch on the types of openapi-typescript.
import createClient from "openapi-fetch";
import { given, grid } from "./given";
import type { components, paths } from "./schema";

const { base, token, project } = given;
const client = createClient<paths>({
  baseUrl: base,
  headers: { Authorization: `Bearer ${token}` },
  // The document says how objects are written (labels); openapi-fetch reads types only and would write deepObject.
  querySerializer: { object: { style: "form", explode: true } },
});
const NOBODY = "00000000-0000-7000-8000-000000000000";

async function session() {
  const publish = (body: components["schemas"]["GridIn"], header = {}) =>
    client.POST("/api/v1/projects/{project}/grids", { params: { path: { project }, header }, body });
  const small = await publish(grid("small", [90, 80, 70, 60]));
  const large = await publish(grid("large", [95, 90, 85, null]));
  if (!small.data || !large.data) throw new Error("not published");

  const path = { grid: small.data.id };
  const wait = { Prefer: "wait=20" };
  const trends = await client.GET("/api/v1/grids/{grid}/statistics", { params: { path, query: { part: "trends" }, header: wait } });
  if (!trends.data || !("state" in trends.data) || trends.data.state !== "ready") throw new Error("not computed");
  const ranking = await client.GET("/api/v1/projects/{project}/rankings", {
    params: { path: { project }, query: { experiment: "length", metric: "accuracy" }, header: wait },
  });
  if (!ranking.data || ranking.data.state !== "ready") throw new Error("not ranked");

  const list = "/api/v1/projects/{project}/grids";
  const first = await client.GET(list, { params: { path: { project }, query: { limit: 1, sort: "model" } } });
  const cursor = first.data?.next ?? undefined;
  const second = await client.GET(list, { params: { path: { project }, query: { limit: 1, sort: "model", cursor } } });
  const labels: Record<string, string> = { "label.seed": "0" };
  const labelled = await client.GET(list, { params: { path: { project }, query: { labels } } });
  const csv = await client.GET("/api/v1/grids/{grid}/cells.csv", { params: { path }, parseAs: "text" });
  const png = await client.GET("/api/v1/grids/{grid}/heatmap.png", { params: { path }, parseAs: "arrayBuffer" });

  const missing = await client.GET("/api/v1/grids/{grid}", { params: { path: { grid: NOBODY } } });
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
    png: Array.from(new Uint8Array(png.data ? (png.data as unknown as ArrayBuffer) : new ArrayBuffer(0)).slice(1, 4)),
    missing: [missing.response.status, missing.error?.title],
    taken: [taken.response.status, taken.error?.title],
    invalid: [invalid.response.status, invalid.error?.errors?.[0].pointer],
  };
}

session().then((told) => console.log(JSON.stringify(told)));
