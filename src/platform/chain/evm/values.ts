/** Thrown for a response that cannot be used; the client turns it into a ProviderError of the same kind. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
  readonly kind: "malformed" | "range_too_large";

  constructor(message: string, kind: "malformed" | "range_too_large" = "malformed") {
    super(message);
    this.kind = kind;
  }
}

type Fields = Readonly<Record<string, unknown>>;

export function readObject(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedAnswer(`${what} is not an object`);
  }
  return value as Fields;
}

export function readArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedAnswer(`${what} is not a list`);
  return value;
}

/** Parses a hexadecimal quantity that is a safe integer. */
export function readQuantity(value: unknown, what: string): number {
  const number =
    typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? Number(value) : NaN;
  if (!Number.isSafeInteger(number)) throw new MalformedAnswer(`${what} is not a quantity`);
  return number;
}

/** Parses 32 bytes; returns 64 lower-case hexadecimal digits. */
export function readHash(value: unknown, what: string): string {
  return readHex(value, 64, what);
}

/** Parses exactly this many hexadecimal digits after 0x; returns them in lower case without the 0x. */
export function readHex(value: unknown, digits: number, what: string): string {
  if (typeof value !== "string" || value.length !== digits + 2 || !/^0x[0-9a-fA-F]+$/.test(value)) {
    throw new MalformedAnswer(`${what} is not ${String(digits / 2)} bytes of hex`);
  }
  return value.slice(2).toLowerCase();
}
