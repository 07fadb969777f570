/** Longest bar, in terminal columns. */
const barWidth = 30n;
/** Partial blocks for the end of a bar, in eighths of a column. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const fullBlock = "█";
/** Heights of a trend column. Zero has the lowest one; every positive value is at least one step higher. */
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const something = 1n;

/** Draws a bar for each decimal number, scaled to the largest. Positive values are always visible. */
export function drawBars(values: readonly string[]): string[] {
  const numbers = toUnits(values);
  const most = largest(numbers);
  return numbers.map((number) => {
    if (number <= 0n) return "";
    const length = atLeast(something, (number * barWidth * 8n) / most);
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
