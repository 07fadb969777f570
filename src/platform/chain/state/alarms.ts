import type { Clock, Instant } from "../../../kernel/clock.ts";
import type { Logger } from "../../logger/index.ts";

/** The kinds of alarms about a network. */
const alarmKinds = [
  "network_not_read",
  "blocks_refused",
  "token_disabled",
  "payment_held",
  "transfer_held",
  "refund_held",
  "final_transaction_moved",
  "final_block_changed",
  "provider_wrong_chain",
  "provider_silent_logs",
  "provider_too_far_ahead",
  "provider_wrong_time",
  "provider_slow",
  "block_time_disputed",
  "block_time_unconfirmed",
  "providers_disagree",
  "transfer_left_out",
  "log_unreadable",
  "tip_went_back",
  "chain_time_lags",
  "addresses_unfiltered",
  "wallets_read_late",
  "transfers_not_recorded",
] as const;
export type AlarmKind = (typeof alarmKinds)[number];

export interface Alarm {
  readonly kind: AlarmKind;
  /**
   * The subject: a provider, a token, a payment, a transfer, a refund, a transaction, a wallet or a range of blocks. It is the network's id if
   * the alarm concerns the whole network, and `restSubject` if the alarm represents those beyond the limit.
   */
  readonly subject: string;
  /** A message for the operator. */
  readonly message: string;
  readonly raisedAt: Instant;
  /** Null while the alarm is open. */
  readonly endedAt: Instant | null;
}

/**
 * The alarms of one network in the process that reads it. Conditions are found inside network calls, outside of any
 * transaction, and also while the store is down: so an alarm is logged at once, and stored by the next write of the
 * network's monitor. Others read alarms from the store.
 */
export interface ChainAlarms {
  /**
   * Opens an alarm and logs it, once until it is cleared or its message changes. `details` are added to the log line.
   */
  raise(
    kind: AlarmKind,
    subject: string,
    message: string,
    details?: Readonly<Record<string, unknown>>,
  ): void;
  clear(kind: AlarmKind, subject: string): void;
  /** True if the alarm is open. Also true if it may be one of those that the alarm of `restSubject` represents. */
  holds(kind: AlarmKind, subject: string): boolean;
  open(): readonly Alarm[];
  /** The alarms that changed since they were last stored. */
  changes(): readonly Alarm[];
  written(changes: readonly Alarm[]): void;
  /** Replaces all alarms by these, because another process was the watcher in the meantime. */
  adopt(open: readonly Alarm[]): void;
  /** Drops stored alarms that are no longer open in the store: an operator acknowledged them. */
  keepOpen(stored: readonly Pick<Alarm, "kind" | "subject">[]): void;
}

/**
 * Alarms that an operator must acknowledge; all others end with their cause. `providers_disagree` also ends when the
 * providers agree again.
 */
export const acknowledgedKinds = [
  "final_block_changed",
  "final_transaction_moved",
  "providers_disagree",
  "transfer_left_out",
  "log_unreadable",
  "transfers_not_recorded",
] as const;

/**
 * The largest number of separately open alarms of one kind on one network. A single alarm represents those beyond it;
 * it ends with the last of its kind.
 */
export const openMax = 500;
/** The subject of the alarm that represents the others of its kind. */
export const restSubject = "the rest";

export function createAlarms(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
}): ChainAlarms {
  const { clock, logger } = deps;
  const open = makeOpenAlarms();
  const changed = new Map<string, Alarm>();

  function clear(kind: AlarmKind, subject: string): void {
    const before = open.get(kind, subject);
    if (before === undefined) return;
    open.drop(before);
    changed.set(keyOf(before), { ...before, endedAt: clock.now() });
    if (open.separate(kind) === 0) clear(kind, restSubject);
  }

  return {
    raise(kind, subject, message, details = {}) {
      const asked = open.get(kind, subject);
      if (asked?.message === message) return;
      logger.error({ alarm: kind, ...details }, message);
      const isKept = asked !== undefined || open.separate(kind) < openMax;
      const shown = isKept
        ? { kind, subject, message }
        : { kind, subject: restSubject, message: restMessage };
      const before = open.get(kind, shown.subject);
      if (before !== undefined && before.message === shown.message) return;
      const alarm = { ...shown, raisedAt: before?.raisedAt ?? clock.now(), endedAt: null };
      open.put(alarm);
      changed.set(keyOf(alarm), alarm);
    },
    clear,
    holds: (kind, subject) =>
      open.get(kind, subject) !== undefined || open.get(kind, restSubject) !== undefined,
    open: () => open.all(),
    changes: () => [...changed.values()],
    written(changes) {
      for (const alarm of changes) {
        const key = keyOf(alarm);
        if (changed.get(key) === alarm) changed.delete(key);
      }
    },
    adopt(known) {
      changed.clear();
      for (const alarm of open.all()) open.drop(alarm);
      for (const alarm of known) open.put(alarm);
    },
    keepOpen(stored) {
      const kept = new Set(stored.map(keyOf));
      for (const alarm of open.all()) {
        const key = keyOf(alarm);
        if (!kept.has(key) && !changed.has(key)) open.drop(alarm);
      }
    },
  };
}

/** The open alarms, and the number of separately open ones of each kind. */
function makeOpenAlarms() {
  const alarms = new Map<string, Alarm>();
  const separate = zeros();
  return {
    get: (kind: AlarmKind, subject: string) => alarms.get(keyOf({ kind, subject })),
    all: () => [...alarms.values()],
    separate: (kind: AlarmKind) => separate[kind],
    put(alarm: Alarm): void {
      const key = keyOf(alarm);
      if (!alarms.has(key) && alarm.subject !== restSubject) separate[alarm.kind] += 1;
      alarms.set(key, alarm);
    },
    drop(alarm: Alarm): void {
      if (alarms.delete(keyOf(alarm)) && alarm.subject !== restSubject) separate[alarm.kind] -= 1;
    },
  };
}

function zeros(): Record<AlarmKind, number> {
  return Object.fromEntries(alarmKinds.map((kind) => [kind, 0])) as Record<AlarmKind, number>;
}

const restMessage = `more than ${String(openMax)} of these alarms are open; the log lists the others`;

function keyOf({ kind, subject }: Pick<Alarm, "kind" | "subject">): string {
  return `${kind} ${subject}`;
}
