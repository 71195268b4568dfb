"""Charts as pictures: lines, trade-offs and forests, as SVG and as Vega-Lite."""
