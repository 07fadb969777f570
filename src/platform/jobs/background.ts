import { schedule, type ScheduledTask } from "node-cron";
import { minute, second, systemClock, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Logger } from "../logger/index.ts";
import { LeaseLost } from "./leases.ts";

/** Recurring work that finds its own due items. Running it late, twice or concurrently must be harmless. */
export interface Worker {
  readonly name: string;
  /**
   * The delay from the end of a run to the next one, in milliseconds, of work that does not wait for a minute; a wake-up
   * may start it earlier.
   */
  readonly everyMs?: number;
  /** The cron lines in UTC of work that recurs every minute or less often. A wake-up, and a start, runs it too. */
  readonly lines?: readonly string[];
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

/** Work that the runs of a worker start without waiting for it, usually under leases. */
export interface Started<Result> {
  /** Counts the work until its result is recorded; with null, nothing is recorded. The work must not fail. */
  add(work: Promise<Result | null>): void;
  count(): number;
  /** Resolves when nothing is counted. */
  idle(): Promise<void>;
}

/**
 * Hands the results of started work to `record`, at most `batchMax` at once: those that arrive meanwhile are the next
 * batch. `record` must not fail. `after` is called when there is room for more work.
 */
export function makeStarted<Result>({
  batchMax,
  record,
  after,
}: {
  readonly batchMax: number;
  readonly record: (results: readonly Result[]) => Promise<void>;
  readonly after: () => void;
}): Started<Result> {
  const ended: Result[] = [];
  const waiting: (() => void)[] = [];
  let count = 0;
  let isRecording = false;

  function release(by: number): void {
    count -= by;
    after();
    if (count > 0) return;
    for (const resolve of waiting.splice(0)) resolve();
  }

  async function recordEnded(): Promise<void> {
    isRecording = true;
    // Results of the same turn of the event loop are recorded together.
    await new Promise(setImmediate);
    while (ended.length > 0) {
      const batch = ended.splice(0, batchMax);
      await record(batch);
      release(batch.length);
    }
    isRecording = false;
  }

  return {
    add(work) {
      count += 1;
      void work.then((result) => {
        if (result === null) {
          release(1);
          return;
        }
        ended.push(result);
        if (!isRecording) void recordEnded();
      });
    },
    count: () => count,
    async idle() {
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
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

/** A missed, doubled or late tick only changes the delay of work that does not wait for a minute. */
const tickMs = second;
/** When work that waits for a minute is tried again after it failed, in milliseconds. */
const retryMs = 30 * second;
/** Ticks come this long before full seconds: before node-cron, at full minutes, one notices that the clock was set. */
const leadMs = 20;
/** A larger change of wall-clock time against monotonic time means that the clock was set, or the machine slept. */
const jumpMin = second;

export function createBackground(deps: {
  readonly workers: readonly Worker[];
  readonly clock: Clock;
  readonly logger: Logger;
}): Background {
  const { clock, logger } = deps;
  const stopping = new AbortController();
  const slots = slotsOf(deps.workers);
  let tasks: readonly ScheduledTask[] = [];
  let offset = wallOffset();
  let ticking: NodeJS.Timeout | undefined;
  let lastTick: Instant | null = null;
  let stopped: Promise<void> | null = null;

  function startRun(slot: Slot, { isNudge } = { isNudge: false }): void {
    if (stopping.signal.aborted || ticking === undefined) return;
    if (slot.running !== null) {
      slot.isWanted = true;
      return;
    }
    slot.isWanted = false;
    slot.running = runOnce(slot, logger, stopping.signal).then((isDone) => {
      slot.running = null;
      const { everyMs } = slot.worker;
      if (everyMs === undefined) slot.dueAt = isDone ? Infinity : clock.now() + retryMs;
      else if (!isNudge) slot.dueAt = clock.now() + everyMs;
      if (slot.isWanted) startRun(slot);
    });
  }

  /**
   * Makes the tasks of node-cron, and makes them again after the clock was set: they wait for times of the day, and would
   * rest until these come again, or count every time that was skipped. Runs their workers, which look for skipped times.
   */
  function scheduleLines(): void {
    for (const task of tasks) void task.destroy();
    offset = wallOffset();
    tasks = [...slots.values()].flatMap((slot) => {
      const run = () => {
        startRun(slot);
      };
      if (slot.worker.lines !== undefined) run();
      return (slot.worker.lines ?? []).map((line) => {
        const task = schedule(line, run, { timezone: "UTC" });
        // A process that was busy at that time makes it up.
        task.on("execution:missed", run);
        return task;
      });
    });
  }

  function tick(): void {
    ticking = setTimeout(tick, tickMs - ((systemClock.now() + leadMs) % tickMs));
    if (Math.abs(wallOffset() - offset) > jumpMin) scheduleLines();
    const now = clock.now();
    lastTick = now;
    for (const slot of slots.values()) {
      const { everyMs = Infinity } = slot.worker;
      if (slot.running !== null) continue;
      // A due time further ahead than the worker's interval can only come from a clock that was set back since.
      if (slot.dueAt <= now || slot.dueAt - now > everyMs) startRun(slot);
    }
  }

  async function end(): Promise<void> {
    stopping.abort();
    clearTimeout(ticking);
    for (const task of tasks) void task.destroy();
    await Promise.all(
      [...slots.values()].map(async ({ worker, running }) => {
        await running;
        await worker.drained?.();
      }),
    );
  }

  return {
    start() {
      if (ticking !== undefined) throw new Defect("the background was started twice");
      tick();
      scheduleLines();
    },
    wake(name) {
      const slot = slots.get(name);
      if (slot !== undefined) startRun(slot);
    },
    nudge(name) {
      const slot = slots.get(name);
      if (slot === undefined || slot.running !== null) return;
      // A time ahead can only come from a clock that was set back since.
      if (Math.abs(clock.now() - slot.nudgedAt) < (slot.worker.everyMs ?? minute)) return;
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

/** Returns the time of the machine's clock less monotonic time. It changes only if the clock is set or the machine sleeps. */
function wallOffset(): number {
  return systemClock.now() - performance.now();
}

function slotsOf(workers: readonly Worker[]): ReadonlyMap<string, Slot> {
  return new Map(
    workers.map((worker) => [
      worker.name,
      {
        worker,
        running: null,
        isWanted: false,
        dueAt: worker.everyMs === undefined ? Infinity : 0,
        nudgedAt: -Infinity,
      },
    ]),
  );
}

/** Runs a worker until nothing is waiting for it. Logs its failure, and then returns false. */
async function runOnce({ worker }: Slot, logger: Logger, stopping: AbortSignal): Promise<boolean> {
  try {
    let isMore = true;
    while (isMore && !stopping.aborted) isMore = await worker.run(stopping);
    return true;
  } catch (error) {
    if (stopping.aborted) return false;
    const level = error instanceof LeaseLost ? "warn" : "error";
    logger[level](
      { worker: worker.name, err: error },
      "background work failed and will be retried",
    );
    return false;
  }
}
