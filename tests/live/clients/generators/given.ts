// What a session is told: where the registry is, its token, its project, and what to publish.
import type { GridIn } from "./hey/types.gen";

declare const process: { argv: string[] };

export type Given = { base: string; token: string; project: string };

export const given: Given = JSON.parse(process.argv[2]);

export const grid = (model: string, values: (number | null)[]): GridIn => ({
  experiment: "length",
  benchmark: "sums",
  model,
  metric: { name: "accuracy", unit: "%", direction: "higher", lower: 0, upper: 100 },
  axes: [{ name: "Length", kind: "numeric", levels: [1, 2, 3, 4] }],
  values,
  trials: 300,
  labels: { seed: model === "small" ? "0" : "1" },
});
