import type { Instant } from "./clock.ts";

/** Every kind of id and its prefix. */
export const idPrefixes = {
  organization: "org",
  user: "usr",
  membership: "mem",
  invitation: "ivt",
  session: "ses",
  apiKey: "key",
  customer: "cus",
  wallet: "wal",
  invoice: "inv",
  hold: "hld",
  paymentLink: "lnk",
  transfer: "trf",
  payment: "pay",
  claim: "clm",
  refund: "rfd",
  decision: "dcn",
  figure: "fig",
  webhookEndpoint: "wep",
  webhookDelivery: "whd",
  event: "evt",
  subscription: "sub",
  platformInvoice: "pin",
  credit: "crd",
  discount: "dsc",
  adjustment: "adj",
  auditLog: "aud",
  review: "rev",
  job: "job",
  request: "req",
} as const;

export type IdKind = keyof typeof idPrefixes;
export type Id<K extends IdKind> = `${(typeof idPrefixes)[K]}_${string}`;

/** Returns the given number of random bytes; passed in, so that tests are repeatable. */
export type RandomBytes = (length: number) => Uint8Array;

/** Crockford's base 32 in lower case: text order equals numeric order, and no two characters look alike. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 10;
const randomLength = 16;

/** Encodes a time as the first characters of an id, so that later ids sort after earlier ones. */
export function encodeTime(at: Instant): string {
  let text = "";
  let rest = at;
  for (let index = 0; index < timeLength; index += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Returns the smallest id of a kind at a time. Lists that are filtered by time compare it with the primary key. */
export function idFloor<K extends IdKind>(kind: K, at: Instant): Id<K> {
  return `${idPrefixes[kind]}_${encodeTime(at)}${"0".repeat(randomLength)}` as Id<K>;
}

export interface IdSource {
  /** Returns a new id of 48 time bits and 80 random bits; ids from one process sort by creation. */
  next<K extends IdKind>(kind: K, at: Instant): Id<K>;
  /** Returns an id that reveals nothing and cannot be guessed: 160 random bits. */
  unguessable(prefix: string): string;
}

export function createIds(randomBytes: RandomBytes): IdSource {
  let lastTime = -1;
  let timeText = "";
  let lastRandom: number[] = [];
  return {
    next(kind, at) {
      if (at > lastTime) {
        lastTime = at;
        timeText = encodeTime(at);
        // The top bit stays clear, so that incrementing within a millisecond never overflows.
        lastRandom = Array.from(randomBytes(randomLength), (byte, index) =>
          index === 0 ? byte & 15 : byte & 31,
        );
      } else {
        increment(lastRandom);
      }
      let id = `${idPrefixes[kind]}_${timeText}`;
      for (const digit of lastRandom) id += alphabet.charAt(digit);
      return id as Id<typeof kind>;
    },
    unguessable(prefix) {
      const digits = Array.from(randomBytes(32), (byte) => alphabet.charAt(byte & 31));
      return `${prefix}_${digits.join("")}`;
    },
  };
}

function increment(digits: number[]): void {
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const digit = digits[index] ?? 0;
    if (digit < 31) {
      digits[index] = digit + 1;
      return;
    }
    digits[index] = 0;
  }
}

/** Returns a regular expression for ids of this kind, used by schemas and the OpenAPI document. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(
    `^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{${String(timeLength + randomLength)}}$`,
  );
}
