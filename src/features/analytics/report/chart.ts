import { escapeHtml } from "../../../kernel/html.ts";

/** A column of a chart. */
export interface Bar {
  /** Below the column, if it is labelled. */
  readonly label: string;
  /** A decimal number. */
  readonly value: string;
  /** The whole text for a pointer that rests on the column, and for screen readers. */
  readonly title: string;
}

const size = { width: 720, height: 180, left: 4, bottom: 18, top: 16 };
/** Every so many columns have a label, so that at most about 16 are written. */
const labelsMost = 16;

/**
 * Draws a column chart as inline SVG, without a script. The lengths are drawn from rounded numbers; the titles have the
 * exact ones. Positive values are always visible.
 */
export function columnChart(name: string, bars: readonly Bar[]): string {
  const { width, height, left, bottom, top } = size;
  const values = bars.map(({ value }) => Math.max(0, Number(value)));
  const most = Math.max(...values, 0);
  const largest = bars[values.indexOf(most)];
  const step = (width - 2 * left) / Math.max(1, bars.length);
  const space = height - bottom - top;
  const every = Math.ceil(bars.length / labelsMost);
  const columns = bars.map(({ label, title }, place) => {
    const value = values[place] ?? 0;
    const length = most === 0 || value === 0 ? 0 : Math.max(1.5, (value / most) * space);
    const x = left + place * step;
    const text =
      place % every === 0
        ? `<text x="${round(x + step / 2)}" y="${String(height - 4)}" text-anchor="middle">${escapeHtml(label)}</text>`
        : "";
    return `<g><title>${escapeHtml(title)}</title><rect class="area" x="${round(x)}" y="${String(top)}" width="${round(step)}" height="${String(space)}"/><rect class="bar" x="${round(x + step * 0.12)}" y="${round(top + space - length)}" width="${round(step * 0.76)}" height="${round(length)}" rx="1.5"/></g>${text}`;
  });
  const peak =
    most === 0
      ? ""
      : `<text x="${String(left)}" y="11">Highest: ${escapeHtml(largest?.title ?? "")}</text>`;
  return `<svg viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="${escapeHtml(name)}">
<line x1="${String(left)}" x2="${String(width - left)}" y1="${String(height - bottom)}" y2="${String(height - bottom)}"/>
${columns.join("\n")}
${peak}
</svg>`;
}

/** Draws the share of a number in the largest of its column as a bar in a table. */
export function shareBar(value: string, most: number): string {
  const share = most <= 0 ? 0 : Math.max(0, Number(value)) / most;
  const width = share === 0 ? 0 : Math.max(1, share * 100);
  return `<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="bar" width="${round(width)}" height="10"/></svg>`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
