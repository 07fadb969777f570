/** The maximum length of a line with its line break, in bytes: log collectors cut or drop longer ones. */
export const lineBytesMax = 16_384;

/** The fields that a shortened line keeps. */
const kept = ["level", "time", "pid", "msg", "requestId", "operation"];
const keptLengthMax = 512;

/** Returns the line unchanged or, if it is too long, a shorter JSON line that states the original length. */
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
