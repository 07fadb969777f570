import { schedule, type ScheduledTask } from "node-cron";
import type { Clock, Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Logger } from "../logger/index.ts";
import { LeaseLost } from "./leases.ts";

/** Work that looks for itself what is due: running it late, twice or at once with another is harmless. */
export interface Worker {
  readonly name: string;
  /** How long after a run the next one starts by itself, in milliseconds. */
  readonly everyMs: number;
  /**
   * Does a bounded batch. Gives true where more is waiting, and is then called again at once. `signal` asks it to
   * end early.
   */
  run(signal: AbortSignal): Promise<boolean>;
  /** Resolves when what runs have begun and not waited for has ended: after the signal, when the program stops. */
  drained?(): Promise<void>;
}

export interface Background {
  start(): void;
  /** Lets a worker run now: after a commit that made work for it. A nudge may be lost; the next tick makes up for it. */
  nudge(name: string): void;
  /** Ends what runs and starts nothing any more. Asked twice, it stops once. */
  stop(): Promise<void>;
  /** When the scheduler last woke: what readiness looks at. */
  lastTickAt(): Instant | null;
}

interface Slot {
  readonly worker: Worker;
  running: Promise<void> | null;
  isWanted: boolean;
  dueAt: Instant;
}

/** Every second: due workers are looked for. A missed, doubled or late tick changes nothing but the delay. */
const wakeUp = "* * * * * *";

export function createBackground(deps: {
  readonly workers: readonly Worker[];
  readonly clock: Clock;
  readonly logger: Logger;
}): Background {
  const { clock, logger } = deps;
  const stopping = new AbortController();
  const slots = new Map<string, Slot>(
    deps.workers.map((worker) => [
      worker.name,
      { worker, running: null, isWanted: false, dueAt: 0 },
    ]),
  );
  let task: ScheduledTask | null = null;
  let lastTick: Instant | null = null;
  let stopped: Promise<void> | null = null;

  async function runOnce(slot: Slot): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !stopping.signal.aborted) isMore = await slot.worker.run(stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const level = error instanceof LeaseLost ? "warn" : "error";
      logger[level](
        { worker: slot.worker.name, err: error },
        "background work failed; it is tried again",
      );
    }
  }

  function startRun(slot: Slot): void {
    if (stopping.signal.aborted || task === null) return;
    if (slot.running !== null) {
      slot.isWanted = true;
      return;
    }
    slot.isWanted = false;
    slot.running = runOnce(slot).finally(() => {
      slot.running = null;
      slot.dueAt = clock.now() + slot.worker.everyMs;
      if (slot.isWanted) startRun(slot);
    });
  }

  function tick(): void {
    const now = clock.now();
    lastTick = now;
    for (const slot of slots.values()) {
      // Once the clock went back, a time that lies further ahead than a worker ever waits is none.
      const isDue = slot.dueAt <= now || slot.dueAt - now > slot.worker.everyMs;
      if (slot.running === null && isDue) startRun(slot);
    }
  }

  async function end(): Promise<void> {
    stopping.abort();
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
      // A missed tick is harmless here, and no reason to write lines around the logger.
      task = schedule(wakeUp, tick, { suppressMissedWarning: true });
      tick();
    },
    nudge(name) {
      const slot = slots.get(name);
      if (slot !== undefined) startRun(slot);
    },
    stop() {
      stopped ??= end();
      return stopped;
    },
    lastTickAt: () => lastTick,
  };
}
