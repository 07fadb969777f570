/** Characters that could move the cursor, or change how a terminal shows the rest of a line. */
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const levelWidth = 5;

/** Returns a JSON line of the logger as text for people: time, level, message, then the fields and the error's stack. */
export function readableLine(line: string): string {
  const {
    level,
    time,
    pid: _pid,
    msg,
    err,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>;
  const parts = [
    textOf(time).slice(11, 19),
    textOf(level).toUpperCase().padEnd(levelWidth),
    printable(textOf(msg)),
    ...Object.entries(fields).map(([name, value]) => `${printable(name)}=${valueOf(value)}`),
  ];
  return `${parts.join(" ")}\n${errorLines(err)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function valueOf(value: unknown): string {
  const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return printable(isPlain ? value : JSON.stringify(value));
}

function errorLines(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { stack, type, message, cause } = error as Record<string, unknown>;
  const text = textOf(stack) === "" ? `${textOf(type)}: ${textOf(message)}` : textOf(stack);
  const own = text.split("\n").map((each) => `  ${printable(each)}\n`);
  return own.join("") + errorLines(cause);
}

function printable(text: string): string {
  return text.replaceAll(unprintable, "\u{fffd}");
}
