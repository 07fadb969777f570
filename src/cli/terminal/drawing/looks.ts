import { day, hour, minute, second, type Instant } from "../../../kernel/clock.ts";
import type { ColumnKind } from "./fit.ts";

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const decimal = /^-?\d+(\.\d+)?( \p{L}[\p{L}\p{N}.]*)?$/u;
const amount = /\.| /;
const word = /^\S+$/;
/** Longer texts without spaces are not words but ids, addresses, hashes and URLs. */
const wordMost = 20;
const statusField = /^(status|state|condition)$|(Status|State)$/;
const nothing = "-";

/** Returns the kind of a column, from its field and the values of its cells. */
export function kindOf(field: string, cells: readonly string[]): ColumnKind {
  if (field === "id") return "id";
  if (statusField.test(field)) return "status";
  const values = cells.filter((cell) => cell !== nothing);
  const are = (pattern: RegExp) =>
    values.length > 0 && values.every((value) => pattern.test(value));
  if (are(isoTime)) return "time";
  if (are(decimal)) return values.some((value) => amount.test(value)) ? "amount" : "number";
  if (!are(word)) return "text";
  return values.some((value) => value.length > wordMost) ? "code" : "word";
}

/** From this age on, a date says more than a number of days. */
const datesFrom = 60 * day;

/** Returns a time as people say it: `3 h ago`, `in 2 d`, or its date if it is more than 60 days away. */
export function relativeTime(iso: string, now: Instant): string {
  const distance = Date.parse(iso) - now;
  const length = Math.abs(distance);
  if (length >= datesFrom) return iso.slice(0, "2031-01-31".length);
  if (length < second) return "now";
  const amountText = lengthOf(length);
  return distance > 0 ? `in ${amountText}` : `${amountText} ago`;
}

function lengthOf(length: number): string {
  if (length < minute) return `${String(Math.floor(length / second))} s`;
  if (length < hour) return `${String(Math.floor(length / minute))} min`;
  if (length < 2 * day) return `${String(Math.floor(length / hour))} h`;
  return `${String(Math.floor(length / day))} d`;
}

/** Returns a time in full, followed by its distance from now. */
export function timeWithDistance(iso: string, now: Instant): string {
  const distance = relativeTime(iso, now);
  return iso.startsWith(distance) ? iso : `${iso} (${distance})`;
}

export function isTime(text: string): boolean {
  return isoTime.test(text);
}

/** Fills decimal numbers, with or without a unit, so that their decimal points are below each other. */
export function alignDecimals(cells: readonly string[]): string[] {
  const parts = cells.map((cell) => {
    const [number = "", ...unit] = cell.split(" ");
    const point = number.indexOf(".");
    const whole = point === -1 ? number : number.slice(0, point);
    return { whole, fraction: number.slice(whole.length), unit: unit.join(" ") };
  });
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const wholes = longest(parts.map(({ whole }) => whole));
  const fractions = longest(parts.map(({ fraction }) => fraction));
  const units = longest(parts.map(({ unit }) => unit));
  return parts.map(({ whole, fraction, unit }) => {
    const number = whole.padStart(wholes) + fraction.padEnd(fractions);
    return units === 0 ? number : `${number} ${unit.padEnd(units)}`;
  });
}

/** The meaning of a status for the reader, with its sign for terminals without color, and its color (ANSI SGR). */
const tones = {
  good: { sign: "✓", color: 32 },
  waiting: { sign: "~", color: 36 },
  attention: { sign: "!", color: 33 },
  bad: { sign: "✗", color: 31 },
  over: { sign: "–", color: 90 },
} as const;
export type Tone = keyof typeof tones;

/** Every status of the API, by its meaning. A test compares this with the OpenAPI document. */
const wordsByTone: Readonly<Record<Tone, string>> = {
  good: "accepted active approved available confirmed credited enabled fixed fresh invoiced matched ok overpaid paid paid_late succeeded",
  waiting:
    "awaiting confirming delayed draft in_progress in_review open pending pending_review requested sent trialing unknown unverified waiting",
  attention:
    "behind canceled_review cannot_check changes_requested degraded expired_partly_paid late_review partially_paid partly_paid past_due reverted review stale unmatched",
  bad: "dead_letter down exhausted failed missing refused rejected silent_logs suspended wrong_chain",
  over: "archived canceled consumed disabled expired expired_unpaid ignored revoked void",
};
const toneOfWord = new Map(
  Object.entries(wordsByTone).flatMap(([tone, words]) =>
    words.split(" ").map((word) => [word, tone as Tone] as const),
  ),
);

/** Returns the tone of a status; null if the word is unknown. */
export function toneOf(status: string): Tone | null {
  return toneOfWord.get(status) ?? null;
}

/** Returns a status with the sign of its tone, so that it can be told apart without color. */
export function signed(status: string): string {
  const tone = toneOf(status);
  return tone === null ? status : `${tones[tone].sign} ${status}`;
}

/** Colors a drawn status by the tone of its word. */
export function colored(drawn: string, status: string): string {
  const tone = toneOf(status);
  return tone === null ? drawn : `\u001b[${String(tones[tone].color)}m${drawn}\u001b[39m`;
}
