// Replaces what differs from run to run in recorded requests and answers, so that the examples of the document are the
// same after each recording and look like those of an instance on the internet.
import { createHash } from "node:crypto";
import { formatAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { day, hour, minute } from "../../../src/kernel/clock.ts";

const digits = "0123456789abcdefghjkmnpqrstvwxyz";
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** The time bits of all ids: 2026-01-31. */
const idTime = "01kg9m8x00";
/** The first time of each example, and the day to which its midnights move. */
const firstTime = Date.parse("2026-01-31T09:30:00.000Z");
/** Shorter differences of two times are the program's own speed. */
const speed = 3 * minute;
const people = ["ada", "bob", "carol", "dave", "erin", "frank"];
/** How much later a time is than the others, in examples that have the same time everywhere. */
const later: Readonly<Record<string, number>> = {
  paidAt: 12 * minute,
  updatedAt: 12 * minute,
  timestamp: 12 * minute,
  expiresAt: hour,
  dueAt: 14 * day,
  trialEndsAt: 14 * day,
  currentPeriodEnd: 30 * day,
  periodEnd: 30 * day,
  planChangeEffectiveAt: 30 * day,
};
/** The most items that a list has in an example. */
const itemsMax = 2;

const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
const tokenShape = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g;

/** Returns pseudo-random characters that depend on the seed alone. */
function characters(seed: string, alphabet: string, length: number): string {
  let text = "";
  for (let round = 0; text.length < length; round += 1) {
    const bytes = createHash("sha256")
      .update(`${seed} ${String(round)}`)
      .digest();
    for (const byte of bytes) text += alphabet.charAt(byte % alphabet.length);
  }
  return text.slice(0, length);
}

/**
 * Returns a copy of an example with plausible values of the same form for ids, times, secrets, hashes, addresses and
 * cursors. Equal values stay equal, and the order of times is kept. Lists are cut to two items.
 */
export function plausible(value: unknown): unknown {
  const short = shortened(value);
  const text = JSON.stringify(short);
  const ordinals = new Map<string, Map<string, number>>();
  const times = plausibleTimes([...text.matchAll(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g)].map(timeOf));

  /** The place of a value among those of its kind, from 1. */
  function ordinal(kind: string, found: string): string {
    const known = ordinals.get(kind) ?? new Map<string, number>();
    ordinals.set(kind, known);
    if (!known.has(found)) known.set(found, known.size + 1);
    return `${kind} ${String(known.get(found))}`;
  }
  const hash = (found: string) => characters(ordinal("hash", found), "0123456789abcdef", 64);
  const publicId = (found: string) => `ipub_${characters(ordinal("ipub", found), digits, 32)}`;
  const secret = (prefix: string, found: string) =>
    `${prefix}${characters(ordinal(prefix, found), letters, 49)}`;

  const rules: readonly (readonly [RegExp, (found: string, group: string) => string])[] = [
    [tokenShape, plausibleToken],
    [
      /\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/g,
      (found, kind) => `${kind}_${idTime}${characters(ordinal(kind, found), digits, 16)}`,
    ],
    [/\bipub_[0-9a-z]{32}\b|\bINV-0\b/g, publicId],
    [
      /\bchk_[0-9a-z]{32}\b|\bchk_0\b/g,
      (found) => `chk_${characters(ordinal("chk", found), digits, 32)}`,
    ],
    [
      /\b(till_(?:live|test|refresh|invite|reset)_)\w{49}\b/g,
      (found, prefix) => secret(prefix, found),
    ],
    [
      /\b(till_(?:live|test)_)\w{4}(?!\w)/g,
      (_found, prefix) => secret(prefix, "first").slice(0, 14),
    ],
    [
      /\bwhsec_[A-Za-z0-9+/=]+/g,
      (found) =>
        `whsec_${Buffer.from(characters(ordinal("whsec", found), letters, 32)).toString("base64")}`,
    ],
    [
      /\b(0x)?[0-9a-f]{64}\b/g,
      (found) => `${found.startsWith("0x") ? "0x" : ""}${hash(found.replace("0x", ""))}`,
    ],
    [
      /\b0x[0-9a-fA-F]{40}\b/g,
      (found) =>
        formatAddress(characters(ordinal("address", found.toLowerCase()), "0123456789abcdef", 40)),
    ],
    [
      /\b(?:person[\d-]+|new\d+|fresh\d+)@example\.com\b/g,
      (found) => `${personOf(ordinal("person", found))}@example.com`,
    ],
    [
      /\border-\d+\b/g,
      (found) => `order-${String(1_041 + Number(ordinal("order", found).slice(6)))}`,
    ],
    [/\ba long password of the tests 7\b/g, () => "a long sentence is a good password"],
    [/\banother long password of the tests 8\b/g, () => "another long sentence is one too"],
    [/http:\/\/127\.0\.0\.1:9(?=\/|$)/g, () => "https://shop.example/till"],
    [/http:\/\/127\.0\.0\.1:\d+/g, () => "https://till.example"],
    [/\b127\.0\.0\.1\b/g, () => "203.0.113.7"],
    [/\b\d+(?= ms| MiB| s ago)/g, (found) => (Number(found) > 9_999 ? "41000" : "3")],
  ];

  function ofString(found: string, field: string): string {
    if (timeShape.test(found) && times.size === 1)
      return new Date(firstTime + (later[field] ?? 0)).toISOString();
    if (timeShape.test(found))
      return new Date(times.get(Date.parse(found)) ?? firstTime).toISOString();
    if (field === "nextCursor" || field === "cursor") return characters("cursor", letters, 40);
    if (field === "pageToken") return characters("page token", letters, 22);
    if (/^[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(found)) return referenceOf(found);
    return rules.reduce(
      (all, [pattern, replace]) => all.replace(pattern, replace as () => string),
      found,
    );
  }

  /** A payer's reference is the beginning of the invoice's public id. */
  function referenceOf(found: string): string {
    const start = found.toLowerCase().replace("-", "");
    const id = new RegExp(`ipub_${start}[0-9a-z]{24}`).exec(text)?.[0] ?? `ipub_${start}`;
    const shown = publicId(id).slice(5, 13).toUpperCase();
    return `${shown.slice(0, 4)}-${shown.slice(4)}`;
  }

  function plausibleToken(found: string): string {
    const [header = "", payload = ""] = found.split(".");
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as unknown;
    const claims = walk(read(payload), "");
    const shown = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `${header}.${shown}.${characters(`signature of ${shown}`, letters, 86)}`;
  }

  function walk(each: unknown, field: string): unknown {
    if (typeof each === "string") return ofString(each, field);
    if (typeof each === "number") return ofNumber(each, field);
    if (Array.isArray(each)) return each.map((item) => walk(item, field));
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, held]) => [name, walk(held, name)]));
  }
  return walk(short, "");
}

function ofNumber(found: number, field: string): number {
  if (field === "iat") return firstTime / 1_000;
  if (field === "exp") return (firstTime + 15 * minute) / 1_000;
  return field === "blockNumber" ? 58_410_233 : found;
}

function personOf(ordinal: string): string {
  const place = Number(ordinal.slice(ordinal.indexOf(" ") + 1)) - 1;
  const name = people[place % people.length] ?? "";
  return place < people.length ? name : `${name}${String(place)}`;
}

function timeOf([, text]: RegExpMatchArray): number {
  return Date.parse(text ?? "");
}

/** Moves times to the day of the examples. Midnights stay midnights; differences below three minutes become 0. */
function plausibleTimes(found: readonly number[]): ReadonlyMap<number, number> {
  const isMidnight = (at: number) => at % day === 0;
  const sorted = [...new Set(found)].sort((one, other) => one - other);
  const moved = new Map<number, number>();
  const rest = sorted.filter((at) => !isMidnight(at));
  let last = rest[0] ?? 0;
  let shown = firstTime;
  for (const at of rest) {
    shown += at - last < speed ? 0 : Math.round((at - last) / (5 * minute)) * 5 * minute;
    last = at;
    moved.set(at, shown);
  }
  const start = rest[0] ?? sorted[0] ?? 0;
  const days = Math.floor(firstTime / day) - Math.floor(start / day);
  for (const at of sorted.filter(isMidnight))
    moved.set(at, monthMoved(at, start) ?? at + days * day);
  return moved;
}

/** Moves the first of a month by whole months; null for other times. */
function monthMoved(at: number, start: number): number | null {
  const date = new Date(at);
  if (date.getUTCDate() !== 1 || at % day !== 0) return null;
  const monthOf = (time: number) => {
    const each = new Date(time);
    return each.getUTCFullYear() * 12 + each.getUTCMonth();
  };
  date.setUTCMonth(date.getUTCMonth() + monthOf(firstTime) - monthOf(start));
  return date.getTime();
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, itemsMax).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, shortened(held)]));
}
