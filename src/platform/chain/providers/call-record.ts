import { minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import { makeTally, type ProviderFailure } from "../state/provider-health.ts";
import type { ChainClient } from "../client.ts";
import type { ProviderError } from "./error.ts";

/** The methods of a provider, and the probe of its logs, whose failures are counted separately. */
export type RpcMethod = keyof Omit<ChainClient, "network" | "provider"> | "probe";

/** The backoff after a first failure, doubled by each further failure up to the maximum; in milliseconds. */
const backoffFirstMs = 500;
const backoffMostMs = 30 * second;
/** The longest waiting time that a provider may request, in milliseconds. */
const askedMostMs = 10 * minute;

/** The outcomes of the calls to a provider. */
export interface CallRecord extends Pick<
  ReturnType<typeof makeTally>,
  "latencyMs" | "errorPercent" | "counts"
> {
  answered(method: RpcMethod, begunAt: Instant): void;
  /** Returns the backoff in milliseconds. */
  failed(method: RpcMethod, error: ProviderError): number;
  /** Notes that a method works again. The backoff is reset when all do. */
  recovered(method: RpcMethod): void;
  /** Ends the backoff of all methods. */
  forgive(): void;
  /** Makes an error the last one, without counting a call. */
  note(error: ProviderError): void;
  lastFailure(): ProviderError | null;
  lastError(): ProviderFailure | null;
  answeredAt(): Instant | null;
  /** Continues from the time that another process stored. */
  resume(answeredAt: Instant | null): void;
}

export function makeCallRecord(clock: Clock, random: () => number): CallRecord {
  const tally = makeTally();
  /** The methods whose last call failed. Success of another method does not reset the backoff. */
  const failing = new Set<RpcMethod>();
  let waitMs = 0;
  let answeredAt: Instant | null = null;
  let last: { readonly failure: ProviderError; readonly at: Instant } | null = null;

  function recovered(method: RpcMethod): void {
    failing.delete(method);
    if (failing.size === 0) waitMs = 0;
  }

  return {
    ...tally,
    answered(method, begunAt) {
      tally.answered(Math.max(0, clock.now() - begunAt));
      answeredAt = clock.now();
      recovered(method);
    },
    failed(method, error) {
      tally.failed(error.kind);
      failing.add(method);
      waitMs = Math.min(backoffMostMs, Math.max(backoffFirstMs, waitMs * 2));
      const jittered = Math.ceil((waitMs * (1 + random())) / 2);
      return Math.max(jittered, Math.min(error.retryAfterMs ?? 0, askedMostMs));
    },
    recovered,
    forgive() {
      failing.clear();
      waitMs = 0;
    },
    note(failure) {
      last = { failure, at: clock.now() };
    },
    lastFailure: () => last?.failure ?? null,
    lastError() {
      if (last === null) return null;
      const { kind, message } = last.failure;
      return { kind, message, at: last.at };
    },
    answeredAt: () => answeredAt,
    resume(storedAt) {
      answeredAt ??= storedAt;
    },
  };
}
