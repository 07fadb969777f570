import { createHmac } from "node:crypto";
import { hour, type Clock, type Instant } from "../kernel/clock.ts";
import { invalidField, Problem } from "../kernel/errors.ts";
import {
  UniqueViolation,
  type Database,
  type Tx,
  type WriteContext,
} from "../platform/database/index.ts";
import { idempotencyKeys } from "../platform/idempotency/table.ts";
import { openWithPhrase, sealWithPhrase } from "../platform/secrets/encryption.ts";
import { IdempotencyKeyInFlight, IdempotencyKeyReused } from "./problems.ts";

/** The longest Idempotency-Key, in characters. */
const keyLengthMax = 255;
/** How many keys a process remembers to have seen, some 150 bytes each. */
const recentMax = 20_000;
/** How long an answer is kept. */
const keptFor = 24 * hour;
/** How many answers are forgotten in one transaction. */
const pruneBatch = 1_000;
/** How long a request waits for a twin that is in flight in this process, in milliseconds. */
const twinWaitMs = 10_000;

/** An answer as it is sent: only 2xx answers are kept. */
export interface KeptAnswer {
  readonly status: number;
  /** The exact JSON text; empty for an answer without a body. */
  readonly body: string;
}

export interface IdempotentRequest {
  /** The value of the header; undefined where it is absent. */
  readonly key: string | undefined;
  /** Who asks for what: the credential's principal and the operation. */
  readonly scope: string;
  /** Everything that makes the request what it is: path, query, body. */
  readonly fingerprint: string;
  /** Keep the answer sealed under the key, which the store does not hold. */
  readonly isSecret: boolean;
}

export interface Idempotency {
  /**
   * Runs `effect` once for a key: a second request with the same key and fingerprint gets the first one's answer.
   * `effect` is given the context under which its service writes; the answer is kept in that very transaction.
   */
  run(
    request: IdempotentRequest,
    context: WriteContext,
    effect: (context: WriteContext) => Promise<unknown>,
    present: (result: unknown) => KeptAnswer,
  ): Promise<{ answer: KeptAnswer; isReplayed: boolean }>;
}

/**
 * `key` is 32 bytes made for this purpose alone: the store names a claim by an HMAC, so that a stolen store does not
 * let anybody guess the Idempotency-Keys that sealed answers open with.
 */
export function createIdempotency(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly key: Uint8Array;
}): Idempotency {
  const { db, clock } = deps;
  const inFlight = new Map<string, Promise<unknown>>();
  /** Claims that this process has seen, oldest first. */
  const recent = new Set<string>();

  /** Whether the claim was seen before; from now on it was. */
  function isRecent(claim: string): boolean {
    const isKnown = recent.delete(claim);
    recent.add(claim);
    if (recent.size > recentMax) {
      for (const oldest of recent) {
        recent.delete(oldest);
        break;
      }
    }
    return isKnown;
  }

  async function kept(claim: string, request: IdempotentRequest): Promise<KeptAnswer | null> {
    const row = await db.findOne(idempotencyKeys, "WHERE claim = $1", [claim]);
    if (row === null) return null;
    if (row.fingerprint !== request.fingerprint) {
      throw new IdempotencyKeyReused(
        "This Idempotency-Key belongs to another request. Use a new key, or send the same request again.",
      );
    }
    const body = row.isSealed ? openWithPhrase(phrase(request), row.body, claim) : row.body;
    return { status: row.status, body };
  }

  /** Needs the caller's key and the server's, so that a stolen store cannot be searched for short keys. */
  function phrase(request: IdempotentRequest): string {
    return createHmac("sha256", deps.key)
      .update(`phrase\n${request.key ?? ""}`)
      .digest("hex");
  }

  function keep(tx: Tx, claim: string, request: IdempotentRequest, answer: KeptAnswer): void {
    tx.append(idempotencyKeys, {
      claim,
      fingerprint: request.fingerprint,
      status: answer.status,
      body: request.isSecret ? sealWithPhrase(phrase(request), answer.body, claim) : answer.body,
      isSealed: request.isSecret,
      createdAt: clock.now(),
    });
  }

  async function once(
    claim: string,
    request: IdempotentRequest,
    context: WriteContext,
    effect: (context: WriteContext) => Promise<unknown>,
    present: (result: unknown) => KeptAnswer,
  ): Promise<{ answer: KeptAnswer; isReplayed: boolean }> {
    // A new key is the rule, and the store refuses a second answer for an old one: it is asked before only where this
    // process has seen the key.
    const earlier = isRecent(claim) ? await kept(claim, request) : null;
    if (earlier !== null) return { answer: earlier, isReplayed: true };
    let answer: KeptAnswer | undefined;
    const keeping: WriteContext = {
      ...context,
      finish: (tx, result) => {
        answer = present(result);
        keep(tx, claim, request, answer);
      },
    };
    try {
      const result = await effect(keeping);
      return { answer: answer ?? present(result), isReplayed: false };
    } catch (error) {
      // A twin in another process may have been first: its answer is the answer. It shows as a refused row, or as a
      // refusal of the service, which found the object in the state that the twin had left.
      if (!(error instanceof UniqueViolation) && !isRefusal(error)) throw error;
      const first = await kept(claim, request);
      if (first === null) throw error;
      return { answer: first, isReplayed: true };
    }
  }

  return {
    async run(request, context, effect, present) {
      if (request.key === undefined) {
        return { answer: present(await effect(context)), isReplayed: false };
      }
      checkKey(request.key);
      const claim = createHmac("sha256", deps.key)
        .update(`claim\n${request.scope}\n${request.key}`)
        .digest("hex");
      const twin = inFlight.get(claim);
      if (twin !== undefined && !(await endsInTime(twin))) {
        throw new IdempotencyKeyInFlight(
          "Wait until the first request has ended, then send this one again.",
          { retryAfterSeconds: 1 },
        );
      }
      const running = once(claim, request, context, effect, present);
      if (!inFlight.has(claim)) inFlight.set(claim, running);
      try {
        return await running;
      } finally {
        if (inFlight.get(claim) === running) inFlight.delete(claim);
      }
    },
  };
}

/**
 * Forgets a batch of answers that have been kept long enough; true where more is waiting.
 */
export async function pruneKeptAnswers(
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
  // Header values reach here as latin-1; printable ASCII is what a key is made of.
  if (key.length < 1 || key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalidField(
      { header: "Idempotency-Key" },
      "invalid_key",
      `must have 1 to ${String(keyLengthMax)} printable characters`,
    );
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500;
}

/** Whether a twin ended, well or badly, before the wait was over. */
async function endsInTime(twin: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, twinWaitMs, false);
  });
  const ended = twin.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
