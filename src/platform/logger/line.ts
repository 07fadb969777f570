/** The longest line that is written, its line end included, in bytes: collectors cut or drop longer ones. */
export const lineBytesMax = 16_384;

/** The fields that a line keeps when the rest does not fit. */
const kept = ["level", "time", "pid", "msg", "requestId", "operation"];
const keptLengthMax = 512;

/** The line as it is, or, where it is too long, a shorter one that is JSON still and says that it was cut. */
export function fitLine(line: string): string {
  const bytes = Buffer.byteLength(line);
  if (bytes <= lineBytesMax) return line;
  const full = JSON.parse(line) as Record<string, unknown>;
  const short: Record<string, unknown> = {};
  for (const name of kept) {
    const value = full[name];
    if (value === undefined) continue;
    short[name] = typeof value === "string" ? value.slice(0, keptLengthMax) : value;
  }
  return `${JSON.stringify({ ...short, cutFromBytes: bytes })}\n`;
}
