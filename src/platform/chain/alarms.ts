import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Logger } from "../logger/index.ts";

/** What an operator is told of a network. */
export const alarmKinds = [
  "network_not_read",
  "token_disabled",
  "payment_held",
  "final_transaction_moved",
  "provider_wrong_chain",
  "provider_silent_logs",
  "providers_disagree",
  "transfer_left_out",
  "tip_went_back",
] as const;
export type AlarmKind = (typeof alarmKinds)[number];

export interface Alarm {
  readonly kind: AlarmKind;
  /** What it is about: a provider, a token, a payment or a transaction; the network's id where it is that. */
  readonly subject: string;
  /** A sentence for the operator. */
  readonly message: string;
  readonly raisedAt: Instant;
  /** Null while it holds. */
  readonly endedAt: Instant | null;
}

/** The alarms of one network in this process. They reach the log at once, and the store when they are flushed. */
export interface ChainAlarms {
  /** Says it in the log once, until it is cleared or says something else. `details` goes into the log line. */
  raise(
    kind: AlarmKind,
    subject: string,
    message: string,
    details?: Readonly<Record<string, unknown>>,
  ): void;
  clear(kind: AlarmKind, subject: string): void;
  /** Whether it was raised and holds. */
  holds(kind: AlarmKind, subject: string): boolean;
  open(): readonly Alarm[];
  /** How many were raised since the process began, by kind: for metrics. */
  raised(): Readonly<Record<AlarmKind, number>>;
  /** Those that changed since they were last written to the store. */
  changes(): readonly Alarm[];
  written(changes: readonly Alarm[]): void;
  /** Forgets everything and knows these: another process has watched meanwhile. */
  adopt(open: readonly Alarm[]): void;
}

/** Alarms kept in memory; the oldest go first. */
const alarmsMax = 10_000;

export function createAlarms(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
}): ChainAlarms {
  const { clock, logger } = deps;
  const open = new Map<string, Alarm>();
  const changed = new Map<string, Alarm>();
  const counts = Object.fromEntries(alarmKinds.map((kind) => [kind, 0])) as Record<
    AlarmKind,
    number
  >;
  const keyOf = (kind: AlarmKind, subject: string) => `${kind} ${subject}`;

  return {
    raise(kind, subject, message, details = {}) {
      const key = keyOf(kind, subject);
      const before = open.get(key);
      if (before?.message === message) return;
      const alarm = {
        ...{ kind, subject, message },
        raisedAt: before?.raisedAt ?? clock.now(),
        endedAt: null,
      };
      open.set(key, alarm);
      changed.set(key, alarm);
      const [oldest] = open.keys();
      if (open.size > alarmsMax && oldest !== undefined) open.delete(oldest);
      counts[kind] += 1;
      logger.error({ alarm: kind, ...details }, message);
    },
    clear(kind, subject) {
      const key = keyOf(kind, subject);
      const before = open.get(key);
      if (before === undefined) return;
      open.delete(key);
      changed.set(key, { ...before, endedAt: clock.now() });
    },
    holds: (kind, subject) => open.has(keyOf(kind, subject)),
    open: () => [...open.values()],
    raised: () => ({ ...counts }),
    changes: () => [...changed.values()],
    written(changes) {
      for (const alarm of changes) {
        const key = keyOf(alarm.kind, alarm.subject);
        if (changed.get(key) === alarm) changed.delete(key);
      }
    },
    adopt(known) {
      open.clear();
      changed.clear();
      for (const alarm of known) open.set(keyOf(alarm.kind, alarm.subject), alarm);
    },
  };
}
