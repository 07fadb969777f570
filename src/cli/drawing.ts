/** The longest bar, in columns of the terminal. */
const barWidth = 30n;
/** A column filled from the left, by eighths. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const fullBlock = "█";
/** Heights of one column. Nothing at all is the lowest, and something is higher, however little it is. */
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const something = 1n;

/** A bar for each decimal number: the largest is the longest, and what is not nothing is seen. */
export function drawBars(values: readonly string[]): string[] {
  const numbers = toUnits(values);
  const most = largest(numbers);
  return numbers.map((number) => {
    if (number <= 0n) return "";
    const length = atLeast(something, (number * barWidth * 8n) / most);
    return fullBlock.repeat(Number(length / 8n)) + (eighths[Number(length % 8n)] ?? "");
  });
}

/** One line with a column for each decimal number, in their order. */
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

/** Decimal texts as whole numbers of the finest unit among them. */
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
