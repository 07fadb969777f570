/** What stands where a secret stood. */
export const redacted = "[redacted]";

/** Names whose values are secret, in every spelling: `X-Service-Key`, `serviceKey`, `service_key`. */
const secretNames =
  /^(proxy)?(authorization|cookie|setcookie)$|password|passphrase|secret|mnemonic|seedphrase|xprv|credential|(private|service|api|idempotency)key$|token$/;

/** Text that is secret wherever it stands, with what of it may stay. */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{16,}/gi, `$1 ${redacted}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${redacted}`],
  [/\btill_(live|test)_\w+/g, `till_$1_${redacted}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redacted],
  // Extended private keys of every network, and a raw key in hexadecimal that says what it is.
  [/\b[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{20,}/gi, redacted],
  [/\b(private[ _-]?key\W{1,4})(0x)?[0-9a-f]{64}\b/gi, `$1${redacted}`],
  // A user's name and password in a URL.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi, `$1${redacted}@`],
];

const depthMax = 6;
/** How many values one call may hold in all: a line is for reading, and an object may refer to half the program. */
const valuesMax = 300;
/** In characters, for one text; a line as a whole has a limit of its own. */
const textLengthMax = 4_096;

/** What of an error's own fields is shown; drivers hang statements and bound values on theirs. */
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

/** The text without the secrets that it shows by their form, and not longer than a line has use for. */
export function redactText(text: string): string {
  const cut = text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
  return secretTexts.reduce((rest, [form, instead]) => rest.replace(form, instead), cut);
}

/** The fields as a line may hold them: plain, bounded in depth and number, without secrets. It never throws. */
export function redactFields(fields: object): Record<string, unknown> {
  let left = valuesMax;

  function redact(value: unknown, depth: number): unknown {
    left -= 1;
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
        return value === null ? null : redactObject(value, depth);
      case "function":
      case "symbol":
        return undefined;
    }
  }

  function redactObject(value: object, depth: number): unknown {
    if (depth >= depthMax) return "[deeper]";
    try {
      if (value instanceof Error) return redactError(value, depth);
      if (value instanceof Date || value instanceof URL) return redactText(String(value));
      if (ArrayBuffer.isView(value)) return `[${String(value.byteLength)} bytes]`;
      if (value instanceof Map || value instanceof Set) return redactList([...value], depth);
      if (Array.isArray(value)) return redactList(value, depth);
      return redactEntries(Object.entries(value), depth);
    } catch {
      return "[unreadable]";
    }
  }

  function redactList(items: readonly unknown[], depth: number): unknown[] {
    const safe: unknown[] = [];
    for (const item of items) {
      if (left <= 0) return [...safe, "[more]"];
      safe.push(redact(item, depth + 1));
    }
    return safe;
  }

  function redactEntries(
    entries: readonly (readonly [string, unknown])[],
    depth: number,
  ): Record<string, unknown> {
    const safe: Record<string, unknown> = {};
    for (const [name, value] of entries) {
      if (left <= 0) return { ...safe, more: "[more]" };
      const isSecret = value !== null && value !== undefined && isSecretName(name);
      safe[name] = isSecret ? redacted : redact(value, depth + 1);
    }
    return safe;
  }

  /** An error with its causes: a program needs its kind and code, a person its text and where it came from. */
  function redactError(error: Error, depth: number): Record<string, unknown> {
    const own = error as Error & Record<string, unknown>;
    const shown = errorFields
      .filter((name) => name in error)
      .map((name) => [name, own[name]] as const);
    const { cause, stack = "" } = error;
    return {
      type: error.name,
      message: redactText(error.message),
      stack: redactText(stack),
      ...redactEntries(shown, depth),
      ...(cause === undefined ? {} : { cause: redact(cause, depth + 1) }),
    };
  }

  try {
    return redactEntries(Object.entries(fields), 0);
  } catch {
    return { fields: "[unreadable]" };
  }
}

function isSecretName(name: string): boolean {
  return secretNames.test(name.replace(/[^a-z0-9]/gi, "").toLowerCase());
}
