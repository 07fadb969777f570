import { minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ProviderCondition } from "../state/provider-health.ts";

/**
 * Why a provider is not called, or why others are preferred:
 * - `wrong_chain`: it serves another chain, until a check of its chain id succeeds
 * - `silent_logs`: its logs omit transfers, until a probe finds them complete
 * - `waiting`: the backoff after a failure; it is not called
 * - `distrusted`: its responses contradict each other or are impossible; its tip is ignored
 * - `behind`: other providers have newer blocks
 */
export type QuarantineReason = "wrong_chain" | "silent_logs" | "waiting" | "distrusted" | "behind";

/** The duration of each reason, in milliseconds; `waiting` has the length of the backoff. */
const durationMs = {
  wrong_chain: Infinity,
  silent_logs: Infinity,
  distrusted: 5 * minute,
  behind: 15 * second,
} as const satisfies Record<Exclude<QuarantineReason, "waiting">, number>;

/** The conditions that operators see, the most serious first. */
const conditions: readonly (readonly [QuarantineReason, ProviderCondition])[] = [
  ["wrong_chain", "wrong_chain"],
  ["silent_logs", "silent_logs"],
  ["waiting", "waiting"],
  ["distrusted", "behind"],
  ["behind", "behind"],
];

/** The reasons, each with its end, for which a provider is not used like the others. Decides what follows from them. */
export interface Quarantine {
  put(reason: keyof typeof durationMs): void;
  /** Begins a backoff. */
  wait(milliseconds: number): void;
  lift(reason: QuarantineReason): void;
  has(reason: QuarantineReason): boolean;
  /** Returns the end of a backoff; null outside one. */
  retryAt(): Instant | null;
  /** Returns the time from which it is checked or used again; null without a reason, and if the next check is due. */
  againAt(): Instant | null;
  /** True if its blocks and logs may not be used at all. */
  isExcluded(): boolean;
  /** True if the blocks that it reported count. */
  isBelieved(): boolean;
  /**
   * The rank among the providers that may be called; lower is better. Providers that are passed over come after the
   * others, those whose logs omit transfers last.
   */
  rank(): number;
  /** The condition for operators; null if there is no reason. */
  condition(): ProviderCondition | null;
}

export function makeQuarantine(clock: Clock): Quarantine {
  const reasons = new Map<QuarantineReason, { readonly since: Instant; readonly until: Instant }>();

  function enter(reason: QuarantineReason, milliseconds: number): void {
    const since = clock.now();
    reasons.set(reason, { since, until: since + milliseconds });
  }

  /** If the clock was set back to before the beginning, the end is meaningless. */
  function has(reason: QuarantineReason): boolean {
    const entry = reasons.get(reason);
    const now = clock.now();
    if (entry === undefined) return false;
    return entry.until === Infinity || (now >= entry.since && now < entry.until);
  }

  const isExcluded = () => has("wrong_chain") || has("silent_logs");
  return {
    put(reason) {
      enter(reason, durationMs[reason]);
    },
    wait(milliseconds) {
      enter("waiting", milliseconds);
    },
    lift(reason) {
      reasons.delete(reason);
    },
    has,
    retryAt: () => (has("waiting") ? (reasons.get("waiting")?.until ?? null) : null),
    againAt() {
      const ends = [...reasons].flatMap(([reason, { until }]) =>
        has(reason) && until !== Infinity ? [until] : [],
      );
      return ends.length === 0 ? null : Math.max(...ends);
    },
    isExcluded,
    isBelieved: () => !isExcluded() && !has("distrusted"),
    rank: () => (has("silent_logs") ? 2 : 0) + (has("distrusted") || has("behind") ? 1 : 0),
    condition: () => conditions.find(([reason]) => has(reason))?.[1] ?? null,
  };
}
