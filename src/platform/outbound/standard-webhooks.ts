import { createHmac, timingSafeEqual } from "node:crypto";
import { assert } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/** The headers that the Standard Webhooks 1.0.0 specification names. */
export interface WebhookHeaders {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

export interface SignedMessage {
  /** The same on every attempt and replay of one event. No dot: dots divide what is signed. */
  readonly id: string;
  /** Unix seconds of this attempt. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. */
  readonly body: Uint8Array;
  /** `whsec_…`, the newest first; all sign, so that a receiver may change over at leisure. */
  readonly secrets: readonly string[];
}

const secretPrefix = "whsec_";
const secretLengthBytes = 32;
const secretPattern = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const idPattern = /^[A-Za-z0-9_-]{1,255}$/;
/** How far a receiver's clock and ours may differ. */
const toleranceSeconds = 300;

export function newWebhookSecret(randomBytes: RandomBytes): string {
  return secretPrefix + Buffer.from(randomBytes(secretLengthBytes)).toString("base64");
}

/** Signs a message with each secret; the signatures stand in one header, divided by spaces. */
export function sign({ id, timestampSeconds, body, secrets }: SignedMessage): WebhookHeaders {
  assert(idPattern.test(id), "A webhook's id has letters, digits, _ and - only.");
  assert(
    Number.isSafeInteger(timestampSeconds) && timestampSeconds > 0,
    "A webhook's time is whole seconds.",
  );
  assert(secrets.length > 0, "A webhook is signed with at least one secret.");
  const timestamp = String(timestampSeconds);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => signature(secret, id, timestamp, body)).join(" "),
  };
}

/** What a receiver checks a message against. */
export interface Check {
  readonly body: Uint8Array;
  readonly secret: string;
  readonly nowSeconds: number;
}

/** Whether a message was signed with the secret within five minutes of now: what a receiver does. */
export function verify(headers: Partial<WebhookHeaders>, check: Check): boolean {
  return faultOf(headers, check) === null;
}

/** Whether a text has the form of a secret. */
export function isWebhookSecret(text: string): boolean {
  return secretPattern.test(text);
}

/** Why a receiver would refuse a message. */
export type SignatureFault =
  "no_id" | "no_timestamp" | "too_old" | "too_new" | "no_signature" | "another_signature";

/** The first thing that is wrong with a message; null where nothing is. */
export function faultOf(
  headers: Partial<WebhookHeaders>,
  { body, secret, nowSeconds }: Check,
): SignatureFault | null {
  const {
    "webhook-id": id = "",
    "webhook-timestamp": timestamp = "",
    "webhook-signature": given = "",
  } = headers;
  if (id === "") return "no_id";
  if (!/^\d{1,12}$/.test(timestamp)) return "no_timestamp";
  if (nowSeconds - Number(timestamp) > toleranceSeconds) return "too_old";
  if (Number(timestamp) - nowSeconds > toleranceSeconds) return "too_new";
  const candidates = given.split(" ").filter((candidate) => candidate.startsWith("v1,"));
  if (candidates.length === 0) return "no_signature";
  const expected = Buffer.from(signature(secret, id, timestamp, body));
  const isSigned = candidates.some((candidate) => {
    const bytes = Buffer.from(candidate);
    return bytes.byteLength === expected.byteLength && timingSafeEqual(bytes, expected);
  });
  return isSigned ? null : "another_signature";
}

function signature(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  assert(secretPattern.test(secret), "A webhook's secret is whsec_ and base64.");
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}
