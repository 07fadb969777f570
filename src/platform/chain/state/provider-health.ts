import type { Instant } from "../../../kernel/clock.ts";
import type { Address, DroppedPart } from "../client.ts";
import type { ProviderFault } from "../providers/error.ts";
import type { LearnedLimit } from "../providers/limits.ts";

/**
 * The condition of a provider:
 * - `ok`: in use, or usable
 * - `unknown`: no request has been sent yet
 * - `waiting`: it failed, and gets no requests during its backoff
 * - `behind`: other providers have newer blocks, or its responses contradict each other; the others are preferred
 * - `wrong_chain`: it serves another chain, and is not used
 * - `silent_logs`: its logs omit transfers, and it is not used
 */
export type ProviderCondition =
  | "ok"
  | "unknown"
  | "waiting"
  | "behind"
  | "wrong_chain"
  | "silent_logs";

/** A transfer that a provider's logs omit although its receipts contain it. */
export interface OmittedTransfer {
  readonly transactionHash: string;
  readonly to: Address;
}

export interface ProviderFailure {
  readonly kind: ProviderFault;
  readonly message: string;
  readonly at: Instant;
}

export interface ProviderHealth {
  /** Its position in the order of preference, from 0. */
  readonly place: number;
  /** Its origin, with its number if several providers share that origin. */
  readonly provider: string;
  readonly condition: ProviderCondition;
  /** True while the watcher reads the network from it. */
  readonly isInUse: boolean;
  /** Smoothed latency of its responses, in milliseconds; null before the first. */
  readonly latencyMs: number | null;
  readonly tipHeight: number | null;
  /** Blocks by which its tip is below the best tip of all providers; null if it has reported no tip. */
  readonly lagBlocks: number | null;
  /** Percentage of failures among its last hundred calls. A request to wait, because of a rate limit, is none. */
  readonly errorPercent: number;
  readonly requestsToday: number;
  /** The day of `requestsToday`: its midnight in UTC. */
  readonly budgetDay: Instant;
  /** Its daily request limit; null: unlimited. */
  readonly requestsPerDay: number | null;
  readonly lastError: ProviderFailure | null;
  /** The end of its backoff; null: it may be called. */
  readonly retryAt: Instant | null;
  /** The time of its last successful response. */
  readonly answeredAt: Instant | null;
  /**
   * The time of its first failure, or of its exclusion, since its last successful response; null while it responds.
   * Missing in rows that earlier versions stored.
   */
  readonly unusableSince?: Instant | null;
  /**
   * The time at which a probe last found every transfer of the receipts in its logs; null: never. Missing in rows that
   * earlier versions stored.
   */
  readonly provenAt?: Instant | null;
  /**
   * The transfer for which it is excluded; null if it is not excluded for one. Missing in rows that earlier versions
   * stored.
   */
  readonly omitted?: OmittedTransfer | null;
  /**
   * The time from which it is checked or used again; null if it is used, or if its check is due. Missing in rows that
   * earlier versions stored.
   */
  readonly againAt?: Instant | null;
  /** When the failures of a simulated provider were last ended; 0: never. Missing in rows that earlier versions stored. */
  readonly healedAt?: Instant;
  /**
   * The parts of its answers that were dropped, counted since the process began that reads the network. Missing in rows
   * that earlier versions stored.
   */
  readonly dropped?: DroppedCounts;
  /** The limits that its refusals showed. Missing in rows that earlier versions stored. */
  readonly limits?: readonly LearnedLimit[];
}

export type DroppedCounts = Readonly<Partial<Record<DroppedPart, number>>>;

/** Counts since the process began, for metrics. */
export interface ProviderCounts {
  readonly provider: string;
  readonly calls: number;
  readonly failures: Readonly<Partial<Record<ProviderFault, number>>>;
  readonly dropped: DroppedCounts;
}

const recentMax = 100;
/** The weight of the newest latency in the moving average. */
const smoothing = 0.2;

/** Counts the outcomes of calls. */
export function makeTally() {
  const recent: boolean[] = [];
  const failures: Partial<Record<ProviderFault, number>> = {};
  let calls = 0;
  let latencyMs: number | null = null;

  function note(hasFailed: boolean): void {
    calls += 1;
    recent.push(hasFailed);
    if (recent.length > recentMax) recent.shift();
  }

  return {
    answered(tookMs: number) {
      note(false);
      latencyMs = latencyMs === null ? tookMs : latencyMs + (tookMs - latencyMs) * smoothing;
    },
    failed(kind: ProviderFault) {
      note(kind !== "rate_limited");
      failures[kind] = (failures[kind] ?? 0) + 1;
    },
    latencyMs: () => (latencyMs === null ? null : Math.round(latencyMs)),
    errorPercent: () =>
      recent.length === 0 ? 0 : Math.round((recent.filter(Boolean).length / recent.length) * 100),
    counts: () => ({ calls, failures: { ...failures } }),
  };
}
