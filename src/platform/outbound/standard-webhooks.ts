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

/** Whether a message was signed with the secret within five minutes of now: what a receiver does. */
export function verify(
  headers: Partial<WebhookHeaders>,
  { body, secret, nowSeconds }: { body: Uint8Array; secret: string; nowSeconds: number },
): boolean {
  const {
    "webhook-id": id = "",
    "webhook-timestamp": timestamp = "",
    "webhook-signature": given = "",
  } = headers;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds)
    return false;
  const expected = Buffer.from(signature(secret, id, timestamp, body));
  return given.split(" ").some((candidate) => {
    const bytes = Buffer.from(candidate);
    return bytes.byteLength === expected.byteLength && timingSafeEqual(bytes, expected);
  });
}

function signature(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  assert(secretPattern.test(secret), "A webhook's secret is whsec_ and base64.");
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}
