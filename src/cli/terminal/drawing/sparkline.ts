/** Longest bar, in terminal columns. */
const barWidth = 30;
/** Partial blocks for the end of a bar, in eighths of a column. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const fullBlock = "█";
/** Heights of a trend column. Zero has the lowest one; every positive value is at least one step higher. */
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const something = 1n;

/** Draws a bar for each decimal number, scaled to the largest, at most `width` columns long. Positive values are always visible. */
export function drawBars(values: readonly string[], width = barWidth): string[] {
  const numbers = toUnits(values);
  const most = largest(numbers);
  return numbers.map((number) => {
    if (number <= 0n) return "";
    const length = atLeast(something, (number * BigInt(width) * 8n) / most);
    return fullBlock.repeat(Number(length / 8n)) + (eighths[Number(length % 8n)] ?? "");
  });
}

/** Draws one line with a column for each decimal number. */
export function drawTrend(values: readonly string[]): string {
  const numbers = toUnits(values);
  const most = largest(numbers);
  const highest = BigInt(heights.length - 1);
  return numbers
    .map((number) => {
      const height = number <= 0n ? 0n : atLeast(something, (number * highest) / most);
      return heights[Number(height)] ?? "";
    })
    .join("");
}

/** Stretches of zeros from this length on are drawn as one sign. */
const emptyMin = 3;
const emptyStretch = "┄";

/**
 * Draws a trend for a terminal: stretches without anything are drawn as `┄`, and if it is still longer than `width`,
 * each column stands for the largest of several numbers.
 */
export function fitTrend(values: readonly string[], width: number): string {
  const line = drawTrend(values);
  const lowest = heights[0] ?? "";
  const skipped = line.replaceAll(new RegExp(`${lowest}{${String(emptyMin)},}`, "g"), emptyStretch);
  const columns = skipped.split("");
  const each = Math.ceil(columns.length / Math.max(1, width));
  if (each <= 1) return skipped;
  return Array.from({ length: Math.ceil(columns.length / each) }, (_column, index) =>
    // The signs are in the order of their heights, except for that of a stretch, which is lower than all.
    columns
      .slice(index * each, (index + 1) * each)
      .reduce((most, sign) => (sign > most ? sign : most)),
  ).join("");
}

/** Converts decimal strings to integers in the smallest unit among them. */
function toUnits(values: readonly string[]): bigint[] {
  const parts = values.map((value) => value.split("."));
  const decimals = Math.max(0, ...parts.map(([, fraction = ""]) => fraction.length));
  return parts.map(([whole = "0", fraction = ""]) =>
    BigInt(whole + fraction.padEnd(decimals, "0")),
  );
}

function largest(numbers: readonly bigint[]): bigint {
  return numbers.reduce((most, number) => (number > most ? number : most), 0n);
}

function atLeast(least: bigint, number: bigint): bigint {
  return number < least ? least : number;
}
