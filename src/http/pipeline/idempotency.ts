import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import { hour, within, type Clock, type Instant } from "../../kernel/clock.ts";
import { invalidField, Problem } from "../../kernel/errors.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/database.ts";
import { idempotencyKeys } from "../../platform/idempotency.ts";
import { openWithPhrase, sealWithPhrase } from "../../platform/secrets/encryption.ts";
import { IdempotencyKeyInFlight, IdempotencyKeyReused } from "../declare/problems.ts";

/** Maximum length of an Idempotency-Key, in characters. */
const keyLengthMax = 255;
/** Number of recent keys that a process remembers, about 150 bytes each. */
const recentMax = 20_000;
/** How long a response is kept. */
const keptFor = 24 * hour;
/** Number of kept responses deleted in one transaction. */
const pruneBatch = 1_000;
const defaultTwinWaitMs = 10_000;

/** A stored response; only 2xx responses are kept. */
export interface StoredResponse {
  readonly status: number;
  /** The exact JSON text; empty for a response without a body. */
  readonly body: string;
}

export interface IdempotentRequest {
  /** The value of the header; undefined if absent. */
  readonly key: string | undefined;
  /** The principal and the operation. */
  readonly scope: string;
  /** Digest of the path, query and body. */
  readonly fingerprint: string;
  /** Digest of the path and query. */
  readonly target: string;
  /** True if the body has an `externalId`, which a changed order needs to change too. */
  readonly hasExternalId: boolean;
  /**
   * True if the request has no credential: a response is kept only if the request changed something, so that strangers
   * add no rows by requests that do nothing. A repetition of such a request does nothing again.
   */
  readonly isPublic: boolean;
  /** Encrypts the kept response with a key derived from the Idempotency-Key, which the store does not hold. */
  readonly isSecret: boolean;
}

type KeyedRequest = IdempotentRequest & { readonly key: string };

export interface Idempotency {
  /**
   * Runs `effect` once per key: a second request with the same key and fingerprint gets the first response. `effect`
   * receives the context for its writes, and the response is stored in the same transaction.
   */
  run(
    request: IdempotentRequest,
    context: WriteContext,
    effect: (context: WriteContext) => Promise<unknown>,
    present: (result: unknown) => StoredResponse,
  ): Promise<{ response: StoredResponse; isReplayed: boolean }>;
}

interface IdempotencyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly key: Uint8Array;
  /** How long a request waits for an identical one in flight in this process, in milliseconds; by default 10 seconds. */
  readonly twinWaitMs?: number;
}

/**
 * Creates the idempotency store. `key` is 32 bytes used for nothing else: the store identifies a claim by an HMAC, so a
 * stolen store does not help to guess the Idempotency-Keys that open sealed responses.
 */
export function createIdempotency(deps: IdempotencyDependencies): Idempotency {
  const { twinWaitMs = defaultTwinWaitMs } = deps;
  const inFlight = new Map<string, Promise<unknown>>();
  /** The digests of the keys that this process has seen. */
  const recent = new LRUCache<string, true>({ max: recentMax });

  async function once(
    keyDigest: string,
    request: KeyedRequest,
    context: WriteContext,
    effect: (context: WriteContext) => Promise<unknown>,
    present: (result: unknown) => StoredResponse,
  ): Promise<{ response: StoredResponse; isReplayed: boolean }> {
    // Most keys are new, and the unique index refuses a second response for the same key. So the store is read first
    // only if this process has seen the key.
    const isRecent = recent.has(keyDigest);
    recent.set(keyDigest, true);
    const earlier = isRecent ? await findStored(deps, keyDigest, request) : null;
    if (earlier !== null) return { response: earlier, isReplayed: true };
    let response: StoredResponse | undefined;
    const storing: WriteContext = {
      ...context,
      finish: (tx, result) => {
        response = present(result);
        if (!request.isPublic || tx.hasChanged()) store(tx, deps, keyDigest, request, response);
      },
    };
    try {
      const result = await effect(storing);
      return { response: response ?? present(result), isReplayed: false };
    } catch (error) {
      // Another process may have handled the same request first; then its response counts. That shows as a unique
      // violation, or as a refusal by the function, which found the object already changed.
      if (!(error instanceof UniqueViolation) && !isRefusal(error)) throw error;
      const first = await findStored(deps, keyDigest, request);
      if (first === null) throw error;
      return { response: first, isReplayed: true };
    }
  }

  return {
    async run(given, context, effect, present) {
      const { key } = given;
      if (key === undefined) {
        return { response: present(await effect(context)), isReplayed: false };
      }
      checkKey(key);
      const request = { ...given, key };
      const keyDigest = hmac(deps.key, `claim\n${request.scope}\n${key}`);
      const other = inFlight.get(keyDigest);
      if (other !== undefined) await waitFor(other, twinWaitMs);
      const running = once(keyDigest, request, context, effect, present);
      if (!inFlight.has(keyDigest)) inFlight.set(keyDigest, running);
      try {
        return await running;
      } finally {
        if (inFlight.get(keyDigest) === running) inFlight.delete(keyDigest);
      }
    },
  };
}

/** Reads the response that is stored for a key. Throws `idempotency_key_reused` if it is of another request. */
async function findStored(
  { db, key }: IdempotencyDependencies,
  keyDigest: string,
  request: KeyedRequest,
): Promise<StoredResponse | null> {
  const row = await db.findOne(idempotencyKeys, "WHERE claim = $1", [keyDigest]);
  if (row === null) return null;
  const [fingerprint, target] = row.fingerprint.split(targetMark);
  if (fingerprint !== request.fingerprint) throw keyReused(request, target);
  const body = row.isSealed
    ? openWithPhrase(phraseOf(key, request), row.body, keyDigest)
    : row.body;
  return { status: row.status, body };
}

/** Stands in a stored fingerprint before the digest of the path and query, which earlier versions did not store. */
const targetMark = " ";

/** Creates the problem of a key that was used for another request of the same caller and operation. */
function keyReused({ target, hasExternalId }: KeyedRequest, storedTarget: string | undefined) {
  const what =
    storedTarget === undefined
      ? "another request"
      : storedTarget === target
        ? "this path with another body"
        : "another path or query";
  const changed = hasExternalId ? " An order that has changed also needs another externalId." : "";
  return new IdempotencyKeyReused(
    `This Idempotency-Key was used for ${what}. To repeat that request, send it unchanged. For a new request, use a new key.${changed}`,
  );
}

function store(
  tx: Tx,
  { clock, key }: IdempotencyDependencies,
  keyDigest: string,
  request: KeyedRequest,
  response: StoredResponse,
): void {
  const { fingerprint, target, isSecret } = request;
  tx.append(idempotencyKeys, {
    claim: keyDigest,
    fingerprint: `${fingerprint}${targetMark}${target}`,
    status: response.status,
    body: isSecret
      ? sealWithPhrase(phraseOf(key, request), response.body, keyDigest)
      : response.body,
    isSealed: isSecret,
    createdAt: clock.now(),
  });
}

/**
 * Derives the sealing phrase from the caller's and the server's key, so that short keys cannot be guessed from the
 * store.
 */
function phraseOf(key: Uint8Array, request: KeyedRequest): string {
  return hmac(key, `phrase\n${request.key}`);
}

function hmac(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/** Deletes a batch of expired responses; returns true if more are left. */
export async function pruneResponses(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const before = now - keptFor;
  const due = await db.all<{ createdAt: Instant }>(
    `SELECT created_at AS "createdAt" FROM idempotency_keys
     WHERE created_at < $1 ORDER BY created_at LIMIT ${String(pruneBatch)}`,
    [before],
  );
  const last = due.at(-1);
  if (last === undefined) return false;
  await db.write(context, (tx) =>
    tx.run("DELETE FROM idempotency_keys WHERE created_at <= $1 AND created_at < $2", [
      last.createdAt,
      before,
    ]),
  );
  return due.length === pruneBatch;
}

function checkKey(key: string): void {
  // Header values arrive as latin-1; a key must be printable ASCII.
  if (key.length < 1 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalidField(
      { header: "Idempotency-Key" },
      "invalid_key",
      `must have 1 to ${String(keyLengthMax)} printable ASCII characters`,
    );
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500;
}

/** Waits until the identical request in flight has ended, with or without an error. 409 after the timeout. */
async function waitFor(other: Promise<unknown>, twinWaitMs: number): Promise<void> {
  const ended = other.catch(() => undefined);
  await within(twinWaitMs, ended, () => {
    throw new IdempotencyKeyInFlight(
      "Wait until the first request has finished, then send this one again.",
      { retryAfterSeconds: 1 },
    );
  });
}
