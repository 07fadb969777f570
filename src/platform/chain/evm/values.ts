/** Thrown for a response that cannot be used; the client turns it into a ProviderError of the same kind. */
export class MalformedReply extends Error {
  override readonly name = "MalformedReply";
  readonly kind: "malformed" | "range_too_large";

  constructor(message: string, kind: "malformed" | "range_too_large" = "malformed") {
    super(message);
    this.kind = kind;
  }
}

type Fields = Readonly<Record<string, unknown>>;

export function readObject(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedReply(`${what} is not an object`);
  }
  return value as Fields;
}

export function readArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedReply(`${what} is not a list`);
  return value;
}

/**
 * Parses a quantity that is a safe integer: hexadecimal, with leading zeros or without, or a JSON number, as geth once
 * wrote the times of logs. A text of decimal digits is refused, because it may be hexadecimal without its 0x.
 */
export function readQuantity(value: unknown, what: string): number {
  const isHex = typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value);
  const number = isHex || typeof value === "number" ? Number(value) : NaN;
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new MalformedReply(`${what} is not a quantity`);
  }
  return number;
}

/** Returns what a reader returns, or null for a value that it cannot read. */
export function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedReply) return null;
    throw error;
  }
}

/** Parses 32 bytes; returns 64 lower-case hexadecimal digits. */
export function readHash(value: unknown, what: string): string {
  return readHex(value, 64, what);
}

/** Parses exactly this many hexadecimal digits after 0x; returns them in lower case without the 0x. */
export function readHex(value: unknown, digits: number, what: string): string {
  if (typeof value !== "string" || value.length !== digits + 2 || !/^0x[0-9a-fA-F]+$/.test(value)) {
    throw new MalformedReply(`${what} is not ${String(digits / 2)} bytes of hex`);
  }
  return value.slice(2).toLowerCase();
}
