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
  transfer: "trf",
  payment: "pay",
  claim: "clm",
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

/** Fills a buffer of the given length with random bytes; passed in, so that tests repeat. */
export type RandomBytes = (length: number) => Uint8Array;

/** Crockford's base 32 in lower case: sorts as it counts, and no letter looks like another. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 10;
const randomLength = 16;

/** The text that an id's body starts with at a moment: ids made later sort after it. */
export function encodeTime(at: Instant): string {
  let text = "";
  let rest = at;
  for (let place = 0; place < timeLength; place += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** The smallest id of a kind at a moment: a list bounded by time compares its primary key with this. */
export function idFloor<K extends IdKind>(kind: K, at: Instant): Id<K> {
  return `${idPrefixes[kind]}_${encodeTime(at)}${"0".repeat(randomLength)}` as Id<K>;
}

export interface IdSource {
  /** A new id: 48 bits of time, 80 random bits; ids of one process sort in the order they were made. */
  next<K extends IdKind>(kind: K, at: Instant): Id<K>;
  /** An id that tells nothing and cannot be guessed: 160 random bits. */
  unguessable(prefix: string): string;
}

export function createIds(randomBytes: RandomBytes): IdSource {
  let lastTime = -1;
  let lastRandom: number[] = [];
  return {
    next(kind, at) {
      if (at > lastTime) {
        lastTime = at;
        // The top bit stays clear, so that counting up within one millisecond never overflows.
        lastRandom = Array.from(randomBytes(randomLength), (byte, place) =>
          place === 0 ? byte & 15 : byte & 31,
        );
      } else {
        increment(lastRandom);
      }
      const body =
        encodeTime(lastTime) + lastRandom.map((digit) => alphabet.charAt(digit)).join("");
      return `${idPrefixes[kind]}_${body}` as Id<typeof kind>;
    },
    unguessable(prefix) {
      const digits = Array.from(randomBytes(32), (byte) => alphabet.charAt(byte & 31));
      return `${prefix}_${digits.join("")}`;
    },
  };
}

function increment(digits: number[]): void {
  for (let place = digits.length - 1; place >= 0; place -= 1) {
    const digit = digits[place] ?? 0;
    if (digit < 31) {
      digits[place] = digit + 1;
      return;
    }
    digits[place] = 0;
  }
}

/** A regular expression that an id of this kind matches, for schemas and the OpenAPI document. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(
    `^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{${String(timeLength + randomLength)}}$`,
  );
}
