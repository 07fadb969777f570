import { TillError } from "./errors.ts";
import type { WebhookEvent, WebhookEventType } from "./generated/records.ts";

/** Why a delivery was not accepted. */
export type WebhookFault =
  | "missing_header"
  | "malformed_header"
  | "too_old"
  | "too_new"
  | "wrong_signature"
  | "malformed_body";

/** The delivery was not signed with any of the secrets, or not just now: answer 400, and do not read it. */
export class WebhookVerificationError extends TillError {
  override readonly name = "WebhookVerificationError";
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A delivery as it was received. */
export interface Delivery {
  /** The raw body. A body that was parsed and serialized again is a different text. */
  readonly body: string | Uint8Array | ArrayBuffer;
  /** `request.headers` of Node, or those of a fetch `Request`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The endpoint's secret, `whsec_…`, or several, of which one must fit. */
  readonly secret: string | readonly string[];
  /** The tolerated difference of the clocks, in seconds; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** The time of arrival in epoch milliseconds; now by default. */
  readonly now?: number | undefined;
}

const toleranceByDefaultSeconds = 300;
/** The most signatures that are compared: a delivery has one for each secret, two while a secret is exchanged. */
const signaturesMax = 8;
const secretShape = /^whsec_[A-Za-z0-9+/]+={0,2}$/;

/**
 * Verifies a delivery by Standard Webhooks 1.0.0 and returns its event, typed by its `type`, with the `id` of the
 * header. Signatures are compared in constant time. Throws a WebhookVerificationError, or a TypeError if the receiver is
 * wrong: for a secret that is not one, or a body that was parsed already.
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const secrets = typeof delivery.secret === "string" ? [delivery.secret] : delivery.secret;
  if (secrets.length === 0 || !secrets.every((each) => secretShape.test(each))) {
    throw new TypeError("The secret of a webhook endpoint begins with whsec_.");
  }
  const id = headerOf(delivery, "webhook-id");
  const timestamp = headerOf(delivery, "webhook-timestamp");
  const signatures = headerOf(delivery, "webhook-signature")
    .split(" ")
    .slice(0, signaturesMax)
    .flatMap((each) => (each.startsWith("v1,") ? [bytesOf(each.slice(3))] : []));
  checkTime(timestamp, delivery);
  // After the headers, so that a stranger's request without a body is refused and not taken for a fault of the receiver.
  const body = bytesOrText(delivery.body);

  const encoder = new TextEncoder();
  const content = joined(
    encoder.encode(`${id}.${timestamp}.`),
    typeof body === "string" ? encoder.encode(body) : body,
  );
  if (!(await isSigned(content, secrets, signatures))) {
    throw new WebhookVerificationError(
      "wrong_signature",
      "No signature fits: pass the raw body, and the secret of this endpoint.",
    );
  }
  return { ...eventOf(body), id };
}

/** The nouns of the event types, such as `invoice`. */
export type EventNoun = NounOf<WebhookEventType>;
type NounOf<Type extends string> = Type extends `${infer Noun}.${string}` ? Noun : never;

/** A noun, such as `invoice`, or an event type, such as `invoice.paid`. */
export type EventName = EventNoun | WebhookEventType;

/** The events of a noun or of an event type, of those that are delivered or of others, such as `Event`. */
export type EventOf<Name extends EventName, Any extends Typed = WebhookEvent> = Extract<
  Any,
  { readonly type: Name | `${Name}.${string}` }
>;

/** An event, whatever else it has. */
interface Typed {
  readonly type: string;
}

/**
 * Whether an event is about a noun, or has a type: `data` then has the type of its record. The name may be a variable,
 * which a comparison with `type` narrows by only if it has the type of one literal. If the variable's type has several
 * names, only the answer true says something about the type of the event.
 */
export function isEventOf<Any extends Typed, Name extends EventName>(
  event: Any,
  name: Name,
): event is EventOf<Name, Any> {
  return event.type === name || event.type.startsWith(`${name}.`);
}

/**
 * Returns the body if it is one that can be verified. Bytes may be of another realm, such as that of a test runner, where
 * `instanceof` does not know them.
 */
function bytesOrText(body: unknown): string | Uint8Array {
  if (typeof body === "string") return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  const found = body === null ? "null" : typeof body;
  throw new TypeError(
    `body must be the raw text or bytes of the request, not a parsed object: it is ${found}. Read the body before a parser such as express.json() does, for example with express.raw({ type: "application/json" }).`,
  );
}

async function isSigned(
  content: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
  signatures: readonly (Uint8Array<ArrayBuffer> | null)[],
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const { subtle } = globalThis.crypto;
  let found = false;
  for (const secret of secrets) {
    const raw = bytesOf(secret.slice("whsec_".length)) ?? new Uint8Array(0);
    const key = await subtle.importKey("raw", raw, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      // The platform compares in constant time.
      if (signature !== null && (await subtle.verify(algorithm, key, signature, content)))
        found = true;
    }
  }
  return found;
}

function checkTime(timestamp: string, delivery: Delivery): void {
  const { toleranceSeconds = toleranceByDefaultSeconds, now = Date.now() } = delivery;
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError("malformed_header", "webhook-timestamp is not a time.");
  }
  const age = now / 1_000 - Number(timestamp);
  if (age > toleranceSeconds) {
    throw new WebhookVerificationError("too_old", "The delivery is too old: is your clock right?");
  }
  if (age < -toleranceSeconds) {
    throw new WebhookVerificationError(
      "too_new",
      "The delivery is from the future: is your clock right?",
    );
  }
}

function headerOf({ headers }: Delivery, name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : valueOf(headers, name);
  if (found === null || found === "") {
    throw new WebhookVerificationError("missing_header", `The header ${name} is missing.`);
  }
  return found;
}

/** Node gives names in lower case; other servers may not. */
function valueOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | null {
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === "string" ? value : (value?.[0] ?? null);
}

function eventOf(body: string | Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    throw new WebhookVerificationError("malformed_body", "The body is not JSON.");
  }
  if (isEvent(event)) return event;
  throw new WebhookVerificationError("malformed_body", "The body is not an event of Till.");
}

function isEvent(body: unknown): body is WebhookEvent {
  if (typeof body !== "object" || body === null) return false;
  const { type, data } = body as Readonly<Record<string, unknown>>;
  return typeof type === "string" && typeof data === "object" && data !== null;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
