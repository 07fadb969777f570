/** The replacement for a secret. */
const redacted = "[redacted]";

/** Field names whose values are secret, in every spelling: `X-Service-Key`, `serviceKey`, `service_key`. */
const secretNames =
  /^(proxy)?(authorization|cookie|setcookie)$|password|passphrase|secret|mnemonic|seedphrase|xprv|credential|(private|service|api|idempotency)key$|token$/;

/** Secrets that are recognized by their form, each with its replacement. */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{16,}/gi, `$1 ${redacted}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${redacted}`],
  [/\btill_(live|test)_\w+/g, `till_$1_${redacted}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redacted],
  // Extended private keys of every network, and hexadecimal private keys that are labeled as such.
  [/\b[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{20,}/gi, redacted],
  [/\b(private[ _-]?key\W{1,4})(0x)?[0-9a-f]{64}\b/gi, `$1${redacted}`],
  // User name and password in a URL.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi, `$1${redacted}@`],
];

const depthMax = 6;
/** The maximum number of values in one call: an object may refer to half of the program. */
const valuesMax = 300;
/** The maximum length of one text, in characters; the line has its own limit. */
const textLengthMax = 4_096;

/** The error fields that are logged. Database drivers attach statements and bound values in other fields. */
const errorFields = [
  "code",
  "status",
  "errno",
  "syscall",
  "address",
  "port",
  "constraint",
  "errors",
];

/** Redacts secrets that are recognized by their form, and shortens long text. */
export function redactText(text: string): string {
  const cut = text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
  return secretTexts.reduce((rest, [form, instead]) => rest.replace(form, instead), cut);
}

/** Returns the fields as plain data, limited in depth and number, without secrets. Never throws. */
export function redactFields(fields: object): Record<string, unknown> {
  try {
    return redactEntries(Object.entries(fields), 0, { left: valuesMax });
  } catch {
    return { fields: "[unreadable]" };
  }
}

/** The number of values that one call may still return. */
interface Budget {
  left: number;
}

function redact(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= 1;
  switch (typeof value) {
    case "string":
      return redactText(value);
    case "bigint":
      return value.toString();
    case "number":
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : redactObject(value, depth, budget);
    case "function":
    case "symbol":
      return undefined;
  }
}

function redactObject(value: object, depth: number, budget: Budget): unknown {
  if (depth >= depthMax) return "[deeper]";
  try {
    if (value instanceof Error) return redactError(value, depth, budget);
    if (value instanceof Date || value instanceof URL) return redactText(String(value));
    if (ArrayBuffer.isView(value)) return `[${String(value.byteLength)} bytes]`;
    if (value instanceof Map || value instanceof Set) return redactList([...value], depth, budget);
    if (Array.isArray(value)) return redactList(value, depth, budget);
    return redactEntries(Object.entries(value), depth, budget);
  } catch {
    return "[unreadable]";
  }
}

function redactList(items: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const safe: unknown[] = [];
  for (const item of items) {
    if (budget.left <= 0) return [...safe, "[more]"];
    safe.push(redact(item, depth + 1, budget));
  }
  return safe;
}

function redactEntries(
  entries: readonly (readonly [string, unknown])[],
  depth: number,
  budget: Budget,
): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of entries) {
    if (budget.left <= 0) return { ...safe, more: "[more]" };
    const isSecret = value !== null && value !== undefined && isSecretName(name);
    safe[name] = isSecret ? redacted : redact(value, depth + 1, budget);
  }
  return safe;
}

/** Returns an error with its type, code, message, stack and causes. */
function redactError(error: Error, depth: number, budget: Budget): Record<string, unknown> {
  const own = error as Error & Record<string, unknown>;
  const shown = errorFields
    .filter((name) => name in error)
    .map((name) => [name, own[name]] as const);
  const { cause, stack = "" } = error;
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(stack),
    ...redactEntries(shown, depth, budget),
    ...(cause === undefined ? {} : { cause: redact(cause, depth + 1, budget) }),
  };
}

function isSecretName(name: string): boolean {
  return secretNames.test(name.replace(/[^a-z0-9]/gi, "").toLowerCase());
}
