// Grafana's own data library applied to a panel of our dashboard and to the registry's answer: prints, as JSON, each
// cell of the matrix with the text and the colour that the panel would show.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const grafana = require('@grafana/data');
// A page is asked for feature flags and a language while the library works, but not while it loads.
globalThis.window = globalThis;
globalThis.navigator ??= { language: "en", languages: ["en"] };
const { panel, items } = JSON.parse(readFileSync(0, 'utf8'));

const transformation = grafana.standardTransformers.groupingToMatrixTransformer;
grafana.standardTransformersRegistry.setInit(() => [
  { id: transformation.id, name: transformation.name, transformation: async () => transformation },
]);

const types = { string: grafana.FieldType.string, number: grafana.FieldType.number };
const frame = grafana.toDataFrame({
  fields: panel.targets[0].columns.map((column) => ({
    name: column.text,
    type: types[column.type],
    values: items.map((item) => item[column.selector]),
  })),
});
const context = { interpolate: (text) => text };
grafana.transformDataFrame(panel.transformations, [frame], context).subscribe(([matrix]) => {
  const theme = grafana.createTheme();
  const { mappings, color, decimals, min, max } = panel.fieldConfig.defaults;
  const rows = matrix.fields[0].values;
  const cells = matrix.fields.slice(1).flatMap((field) => {
    const config = { mappings, color, decimals, min, max };
    const display = grafana.getDisplayProcessor({ field: { ...field, config }, theme });
    return rows.map((row, place) => {
      const value = field.values[place] ?? null;
      const shown = display(value);
      return { row, column: field.name, value, text: shown.text, color: shown.color };
    });
  });
  console.log(JSON.stringify(cells));
});
