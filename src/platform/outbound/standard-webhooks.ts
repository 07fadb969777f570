import { createHmac, timingSafeEqual } from "node:crypto";
import { assert } from "../../kernel/errors.ts";
import type { RandomBytes } from "../../kernel/id.ts";

/** The headers of the Standard Webhooks specification 1.0.0. */
interface WebhookHeaders {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

interface SignedMessage {
  /**
   * The same for every attempt and replay of an event. Without dots, which separate the parts of the signed content.
   */
  readonly id: string;
  /** The time of this attempt in Unix seconds. */
  readonly timestampSeconds: number;
  /** The exact bytes that are sent. */
  readonly body: Uint8Array;
  /** `whsec_…`, newest first. All of them sign, so that a receiver can switch secrets at any time. */
  readonly secrets: readonly string[];
}

const secretPrefix = "whsec_";
const secretLengthBytes = 32;
const secretPattern = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const idPattern = /^[A-Za-z0-9_-]{1,255}$/;
/** The tolerated clock difference between sender and receiver, in seconds. */
const toleranceSeconds = 300;

export function newWebhookSecret(randomBytes: RandomBytes): string {
  return secretPrefix + Buffer.from(randomBytes(secretLengthBytes)).toString("base64");
}

/** Signs a message with each secret; the signatures are joined by spaces in one header. */
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

/** The data that a receiver checks a message against. */
export interface Check {
  readonly body: Uint8Array;
  readonly secret: string;
  readonly nowSeconds: number;
}

/** Verifies, as a receiver would, that a message was signed with the secret within five minutes of now. */
export function verify(headers: Partial<WebhookHeaders>, check: Check): boolean {
  return faultOf(headers, check) === null;
}

/** True if a text has the form of a secret. */
export function isWebhookSecret(text: string): boolean {
  return secretPattern.test(text);
}

/** The reasons for which a receiver rejects a message. */
export type SignatureFault =
  | "no_id"
  | "no_timestamp"
  | "too_old"
  | "too_new"
  | "no_signature"
  | "another_signature";

/** Returns the first reason to reject a message; null if it is valid. */
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
