import type { Instant } from "../../kernel/clock.ts";
import type { ProviderFault } from "./provider-error.ts";

/**
 * How a provider does:
 * - `ok`: it is used, or would be; `unknown`: it was not asked yet
 * - `waiting`: it failed, and is left alone for a while
 * - `behind`: others have newer blocks, or its answers did not fit together: others are asked before it
 * - `wrong_chain`, `silent_logs`: it is of another chain, or leaves transfers out, and is not used
 */
export type ProviderCondition =
  "ok" | "unknown" | "waiting" | "behind" | "wrong_chain" | "silent_logs";

export interface ProviderFailure {
  readonly kind: ProviderFault;
  readonly message: string;
  readonly at: Instant;
}

export interface ProviderHealth {
  /** Its place in the order of preference, from 0. */
  readonly place: number;
  /** Its origin, with its number where there are several of it. */
  readonly provider: string;
  readonly condition: ProviderCondition;
  /** Whether the network is read from it at present. */
  readonly isInUse: boolean;
  /** Of the latest answers, smoothed; null before the first. */
  readonly latencyMs: number | null;
  readonly tipHeight: number | null;
  /** How far that is below the best tip of all; null where it told none. */
  readonly lagBlocks: number | null;
  /** Of the last hundred calls, how many of a hundred failed. */
  readonly errorPercent: number;
  readonly requestsToday: number;
  /** The day, by its midnight UTC, that they are of. */
  readonly budgetDay: Instant;
  /** The requests of a day that it is allowed; null: any number. */
  readonly requestsPerDay: number | null;
  readonly lastError: ProviderFailure | null;
  /** Until when it is left alone; null: it may be asked. */
  readonly retryAt: Instant | null;
  /** When it last answered. */
  readonly answeredAt: Instant | null;
  /**
   * When it first failed, or was found unfit, after its last answer; null while it answers. Stores of earlier versions do
   * not have it.
   */
  readonly unusableSince?: Instant | null;
  /**
   * When a probe last found in its logs every transfer that its receipts have; null: never. Stores of earlier versions
   * do not have it.
   */
  readonly provenAt?: Instant | null;
}

/** Counts since the process began, for metrics. */
export interface ProviderCounts {
  readonly provider: string;
  readonly calls: number;
  readonly failures: Readonly<Partial<Record<ProviderFault, number>>>;
}

const recentMax = 100;
/** The weight of the newest answer's time. */
const smoothing = 0.2;

/** Outcomes of calls, as they come. */
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
      note(true);
      failures[kind] = (failures[kind] ?? 0) + 1;
    },
    latencyMs: () => (latencyMs === null ? null : Math.round(latencyMs)),
    errorPercent: () =>
      recent.length === 0 ? 0 : Math.round((recent.filter(Boolean).length / recent.length) * 100),
    counts: () => ({ calls, failures: { ...failures } }),
  };
}
