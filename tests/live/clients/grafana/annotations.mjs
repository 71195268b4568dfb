// What Grafana's data library makes of events by the columns of our queries: prints, as JSON, the rows of each frame, with
// times as Grafana has them, in milliseconds.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const grafana = require('@grafana/data');
globalThis.window = globalThis;
globalThis.navigator ??= { language: "en", languages: ["en"] };

const types = { string: grafana.FieldType.string, number: grafana.FieldType.number, timestamp: grafana.FieldType.time };
const selected = (item, selector) => selector.split('.').reduce((at, name) => at?.[name], item) ?? null;
const frames = JSON.parse(readFileSync(0, 'utf8')).map(({ columns, items }) => {
  const frame = grafana.toDataFrame({
    fields: columns.map(({ text, type, selector }) => ({
      name: text,
      type: types[type],
      values: items.map((item) => (type === 'timestamp' ? grafana.dateTime(selected(item, selector)).valueOf() : selected(item, selector))),
    })),
  });
  return new grafana.DataFrameView(frame).toJSON();
});
console.log(JSON.stringify(frames));
