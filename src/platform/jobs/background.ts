import { schedule, type ScheduledTask } from "node-cron";
import { second, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Logger } from "../logger/index.ts";
import { LeaseLost } from "./leases.ts";

/** Recurring work that finds its own due items. Running it late, twice or concurrently must be harmless. */
export interface Worker {
  readonly name: string;
  /** The delay from the end of a run to the next one, in milliseconds; a wake-up may start it earlier. */
  readonly everyMs: number;
  /**
   * Processes a limited batch. Returns true if more is waiting; it is then called again at once. `signal` asks it to
   * stop early.
   */
  run(signal: AbortSignal): Promise<boolean>;
  /**
   * Resolves when the asynchronous work that earlier runs started has ended. Called after the signal, when the program
   * stops.
   */
  drained?(): Promise<void>;
}

export interface Background {
  start(): void;
  /**
   * Runs a worker now, after a commit that created work for it. A lost wake-up only delays the work until the next
   * tick.
   */
  wake(name: string): void;
  /**
   * Runs a worker now, after a commit of a request without a credential: at most once in the worker's interval, however
   * many such requests there are, and not while it runs. The next ordinary run stays due when it was.
   */
  nudge(name: string): void;
  /** Stops all workers and starts no further runs. Further calls return the same promise. */
  stop(): Promise<void>;
  /** The time of the scheduler's last tick, for the readiness check. */
  lastTickAt(): Instant | null;
}

interface Slot {
  readonly worker: Worker;
  running: Promise<void> | null;
  isWanted: boolean;
  dueAt: Instant;
  nudgedAt: Instant;
}

/**
 * The scheduler checks for due workers every second, and on every minute of the clock. A missed, doubled or late tick only
 * changes the delay. node-cron waits for times of the day: after the clock was set back it does nothing until that time
 * comes again, and after a jump ahead it counts every time that it has missed. So it has the minutes only.
 */
const tickMs = second;
const wakeUp = "* * * * *";

export function createBackground(deps: {
  readonly workers: readonly Worker[];
  readonly clock: Clock;
  readonly logger: Logger;
}): Background {
  const { clock, logger } = deps;
  const stopping = new AbortController();
  const slots = slotsOf(deps.workers);
  let task: ScheduledTask | null = null;
  let ticking: NodeJS.Timeout | undefined;
  let lastTick: Instant | null = null;
  let stopped: Promise<void> | null = null;

  function startRun(slot: Slot, { isNudge } = { isNudge: false }): void {
    if (stopping.signal.aborted || task === null) return;
    if (slot.running !== null) {
      slot.isWanted = true;
      return;
    }
    slot.isWanted = false;
    slot.running = runOnce(slot, logger, stopping.signal).finally(() => {
      slot.running = null;
      if (!isNudge) slot.dueAt = clock.now() + slot.worker.everyMs;
      if (slot.isWanted) startRun(slot);
    });
  }

  function tick(): void {
    const now = clock.now();
    lastTick = now;
    for (const slot of slots.values()) {
      // A due time further ahead than the worker's interval can only come from a clock that was set back since.
      const isDue = slot.dueAt <= now || slot.dueAt - now > slot.worker.everyMs;
      if (slot.running === null && isDue) startRun(slot);
    }
  }

  async function end(): Promise<void> {
    stopping.abort();
    clearInterval(ticking);
    await task?.destroy();
    await Promise.all(
      [...slots.values()].map(async ({ worker, running }) => {
        await running;
        await worker.drained?.();
      }),
    );
  }

  return {
    start() {
      if (task !== null) throw new Defect("the background was started twice");
      // A missed tick is harmless, and node-cron would print its warning past the logger.
      task = schedule(wakeUp, tick, { suppressMissedWarning: true });
      ticking = setInterval(tick, tickMs);
      tick();
    },
    wake(name) {
      const slot = slots.get(name);
      if (slot !== undefined) startRun(slot);
    },
    nudge(name) {
      const slot = slots.get(name);
      if (slot === undefined || slot.running !== null) return;
      // A time ahead can only come from a clock that was set back since.
      if (Math.abs(clock.now() - slot.nudgedAt) < slot.worker.everyMs) return;
      slot.nudgedAt = clock.now();
      startRun(slot, { isNudge: true });
    },
    stop() {
      stopped ??= end();
      return stopped;
    },
    lastTickAt: () => lastTick,
  };
}

function slotsOf(workers: readonly Worker[]): ReadonlyMap<string, Slot> {
  return new Map(
    workers.map((worker) => [
      worker.name,
      { worker, running: null, isWanted: false, dueAt: 0, nudgedAt: -Infinity },
    ]),
  );
}

/** Runs a worker until nothing is waiting for it. Logs its failure. */
async function runOnce({ worker }: Slot, logger: Logger, stopping: AbortSignal): Promise<void> {
  try {
    let isMore = true;
    while (isMore && !stopping.aborted) isMore = await worker.run(stopping);
  } catch (error) {
    if (stopping.aborted) return;
    const level = error instanceof LeaseLost ? "warn" : "error";
    logger[level](
      { worker: worker.name, err: error },
      "background work failed and will be retried",
    );
  }
}
