/** The look of a report: light or dark as the reader prefers, and black on white in print. */
export const reportStyle = `
:root { color-scheme: light dark; --ink: #17211e; --quiet: #55635e; --line: #d5ddd9; --paper: #fff; --tile: #f4f7f5; --bar: #0b6b57; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8efec; --quiet: #9fb0a9; --line: #33413c; --paper: #121a17; --tile: #1b2622; --bar: #4fc3a1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2rem 1.25rem 3rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
p { margin: .3rem 0; }
.quiet { color: var(--quiet); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .6rem; margin: 1.2rem 0; }
dl div { background: var(--tile); border-radius: .5rem; padding: .7rem .9rem; }
dt { color: var(--quiet); font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--quiet); }
svg line { stroke: var(--line); }
.bar { fill: var(--bar); }
.area { fill: transparent; }
.area:hover { fill: var(--tile); }
.share { height: .6rem; min-width: 4rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 500; font-size: .85rem; }
.number { text-align: right; white-space: nowrap; }
td.draw { width: 30%; vertical-align: middle; padding-right: 0; }
@media print {
  :root { color-scheme: light; --ink: #000; --quiet: #444; --line: #bbb; --paper: #fff; --tile: #fff; --bar: #0b6b57; }
  @page { margin: 16mm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  dl div { border: 1px solid var(--line); }
  .bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2 { break-after: avoid; }
  section, svg, tr, dl div { break-inside: avoid; }
  section.long { break-inside: auto; }
}`;
