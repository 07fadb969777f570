import { runBilling } from "../../src/features/billing/lifecycle/worker.ts";
import { billingState } from "../../src/features/billing/table.ts";
import { invoices } from "../../src/features/invoices/table.ts";
import { hour, minute, second, type Instant } from "../../src/kernel/clock.ts";
import { Problem } from "../../src/kernel/errors.ts";
import type { TransferLog } from "../../src/platform/chain/client.ts";
import { networkState } from "../../src/platform/chain/state/network-state.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { testContext } from "../support/store/stores.ts";
import type { Sending, SimulatedChain, SimulatedProvider } from "./chain.ts";
import { crashable, Killed, type CrashPoint } from "./crashes.ts";
import { newDeeds, type Invoice, type OpenDeeds } from "./deeds.ts";
import { blockMs, finalityLag, networkId, startAt, type Process, type Stage } from "./stage.ts";
import { chanceOf, type Chance } from "./steps.ts";

/** The time, the chain and a process of Till that may die and be started again. */
export interface Ground {
  readonly stage: Stage;
  readonly db: Database;
  readonly chain: SimulatedChain;
  readonly chance: Chance;
  readonly deeds: OpenDeeds;
  readonly now: () => Instant;
  readonly pass: (milliseconds: number) => void;
  /** Has the process die at a point; null: it lives. */
  readonly planCrash: (point: CrashPoint | null) => void;
  /**
   * Work of the process, which may die of it; then another begins. Gives null where it died, or refused, which
   * `onRefusal` hears of.
   */
  readonly attempt: <T>(
    work: (live: Process) => Promise<T>,
    onRefusal?: (problem: Problem) => Promise<void>,
  ) => Promise<T | null>;
  /** Lets the watcher work until nothing is waiting. */
  readonly look: () => Promise<void>;
  /** Lets billing run, as if it had been at work until now. */
  readonly bill: () => Promise<void>;
  /** Blocks on top, the first with these transfers. */
  readonly mine: (blocks?: number, sent?: readonly Sending[]) => void;
  /** Time passes with a chain that goes on: a few blocks now and then, and looks at them. */
  readonly wait: (milliseconds: number) => Promise<void>;
  /** An issued invoice by its number from the newest, modulo; null: none was issued. */
  readonly invoiceAt: (number: number) => Promise<Invoice | null>;
}

/** A scanned block, and the least time that blocks built on it can have. */
interface ScannedTip {
  readonly height: number;
  readonly hash: string;
  readonly least: Instant;
}

/** A provider that answers for one block at a time needs many. */
const looksMax = 600;
/** How far the times of a history's blocks are behind the clock: a sequencer that is behind, for all providers alike. */
const lagsMs = [0, 0, 0, 3 * minute, 10 * minute, 30 * minute] as const;
/** How long the only provider contradicts the time of the newest scanned block before it is believed. */
const contradictedMs = 5 * minute;
/** How long every provider may hide transfers at most. */
const hiddenMaxMs = 35 * minute;

export async function openGround(
  stage: Stage,
  store: Database,
  seed: number,
  // Drawn apart, so that histories without a lag stay what they were.
  lagMs: number = chanceOf(seed ^ 0x7ae147b1).pick(lagsMs),
): Promise<Ground> {
  const chance = chanceOf(seed ^ 0x5f3759df);
  let now: Instant = startAt + 2 * minute;
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  const chain = stage.newChain(chance, { now: () => now, pass, lagMs });
  const crashing = crashable(store);
  const { db } = crashing;
  const deeds = newDeeds();
  const composed = (): Promise<Process> => stage.compose({ db, now: () => now, chance, chain });
  let process = await composed();
  let billedAt: Instant = now;
  /** For how long every provider may have hidden transfers. */
  let hiddenMs = 0;

  const attempt: Ground["attempt"] = async (work, onRefusal) => {
    try {
      return await work(process);
    } catch (error) {
      if (error instanceof Problem && error.status < 500) {
        await onRefusal?.(error);
        return null;
      }
      if (!isKilled(error)) throw error;
      crashing.plan(null);
      process = await composed();
      return null;
    }
  };

  /** The newest block of the only provider that was scanned, with the time that could be believed. */
  let scanned: ScannedTip | null = null;

  /** The transfers of the only provider, by their places: those that it listed, and those that it hid. */
  const listed = new Set<string>();
  const hidden = new Set<string>();
  /** The newest scanned block's time as the only provider gives it, unlike the stored one, and since when it does. */
  let contradiction: {
    readonly hash: string;
    readonly told: Instant;
    readonly since: Instant;
  } | null = null;

  /** The newest block that a provider shows, and the height up to which it lists transfers. */
  function shownBy({ lies }: SimulatedProvider) {
    const top = chain.blocks[Math.max(0, chain.tip().height - lies.behind)] ?? chain.tip();
    const isHiding = lies.isEmpty || lies.garblesAmounts;
    return { top, indexedTo: isHiding ? -1 : top.height - lies.indexLag };
  }

  /**
   * The least time of a block above the newest scanned one: the stored time of that block, or what the provider has said
   * of it for five minutes; null: another branch of the chain was scanned.
   */
  function leastAbove(shiftOf: (height: number) => number): ScannedTip | null {
    const block = scanned === null ? undefined : chain.blocks[scanned.height];
    if (scanned === null || block?.hash !== scanned.hash) return null;
    const told = block.time + shiftOf(block.height);
    const isLasting =
      contradiction?.hash === block.hash &&
      contradiction.told === told &&
      now - contradiction.since >= contradictedMs;
    return isLasting ? { ...scanned, least: Math.min(scanned.least, told) } : scanned;
  }

  /**
   * Notes the transactions that the only provider gives a wrong time without contradicting what was scanned: nobody can
   * tell then. Nor can anybody if it lists a transfer only after its block was scanned: the times of scanned blocks are
   * not kept. Two providers that lie do not give the same time. Returns false if the answers contradict what is known.
   */
  async function noteMistimed(): Promise<boolean> {
    const [only, ...others] = chain.providers;
    if (only === undefined || others.length > 0) return true;
    const { shiftMs, timesFrom, timesTo, shiftsLogsAlone } = only.lies;
    if (shiftMs !== 0) deeds.isOnlyTimeFalse = true;
    const { top, indexedTo } = shownBy(only);
    const shiftOf = (height: number) =>
      shiftsLogsAlone || height < timesFrom || height > timesTo ? 0 : shiftMs;
    const told = top.time + shiftOf(top.height);
    if (told > now + 10 * minute) return false;
    const logs = chain.blocks.slice(0, indexedTo + 1).flatMap((block) => block.logs);
    const isShifted = ({ blockHeight: height }: TransferLog) =>
      shiftMs !== 0 && height >= timesFrom && height <= timesTo;
    const [late, inTime] = partition(logs, (log) => hidden.has(placeOf(log)));
    for (const log of late.filter(isShifted)) deeds.mistimed.add(log.transactionHash);
    const tip = leastAbove(shiftOf);
    if (told < (tip?.least ?? 0)) return false;
    const state = await networkState(db, networkId);
    const final = chain.blocks[state?.cursorHeight ?? 0]?.time ?? 0;
    const isEarly = ({ blockHeight, blockTime }: TransferLog, by: number) =>
      tip !== null && blockHeight > tip.height && (blockTime ?? 0) + by < tip.least;
    const [refused, believed] = partition(inTime, (log) => {
      const by = isShifted(log) ? shiftMs : 0;
      const at = (log.blockTime ?? 0) + by;
      const isOutside = by !== 0 && shiftsLogsAlone && (at < final || at > top.time);
      return isOutside || isEarly(log, by);
    });
    for (const log of believed.filter(isShifted)) deeds.mistimed.add(log.transactionHash);
    if (!refused.some(({ transactionHash }) => deeds.payments.has(transactionHash))) return true;
    noteContradiction(shiftOf);
    return false;
  }

  /** Notes since when the provider says the same of the newest scanned block. */
  function noteContradiction(shiftOf: (height: number) => number): void {
    const block = chain.blocks[scanned?.height ?? 0];
    if (block === undefined) return;
    const { hash, time, height } = block;
    const told = time + shiftOf(height);
    if (contradiction?.hash === hash && contradiction.told === told) return;
    contradiction = { hash, told, since: now };
  }

  /** Notes what was scanned, after answers that could be believed. */
  async function noteScanned(): Promise<void> {
    const [only, ...others] = chain.providers;
    if (only === undefined || others.length > 0) return;
    const { top, indexedTo } = shownBy(only);
    const state = await networkState(db, networkId);
    if (state === null || state.tipHash !== top.hash) return;
    const { tipHeight: height, tipHash: hash, tipTime, scannedAt } = state;
    scanned = { height, hash, least: Math.min(tipTime, scannedAt - minute) };
    for (const log of chain.blocks.slice(0, height + 1).flatMap((block) => block.logs)) {
      if (log.blockHeight <= indexedTo) listed.add(placeOf(log));
      else if (!listed.has(placeOf(log))) {
        hidden.add(placeOf(log));
        deeds.hidden.add(log.transactionHash);
      }
    }
  }

  async function look(): Promise<void> {
    const signal = new AbortController().signal;
    for (let looks = 0; looks < looksMax; looks += 1) {
      const isPlausible = await noteMistimed();
      const isMore = await attempt(async ({ workers }) =>
        workers.get(`watch ${networkId}`)?.run(signal),
      );
      if (isPlausible) await noteScanned();
      const isOver = isMore !== true && isMore !== null;
      // A worker that has more to do goes on at once, so that a provider that failed is not asked again meanwhile.
      now += isOver ? second : second / 10;
      if (isOver) return;
    }
    throw new Error("the watcher never comes to an end");
  }

  async function bill(): Promise<void> {
    await store.write(testContext, (tx) =>
      tx.update(billingState, { heartbeatAt: now }, "WHERE id = 'billing'"),
    );
    billedAt = now;
    const done = await attempt(({ app }) => runBilling(app));
    if (done !== null && done.parked > 0) throw new Error("billing failed, and was parked");
  }

  function mine(blocks = 1, sent: readonly Sending[] = []): void {
    for (let block = 0; block < blocks; block += 1) {
      if (block > 0) now += blockMs;
      chain.mine(now, block === 0 ? sent : []);
    }
  }

  /**
   * Ends lies about logs in time, unless another provider tells the truth: Till promises to find what an index hides for
   * less than an hour, or what one of several hides for ever.
   */
  function endIndexLies(ms: number): void {
    const isHonest = ({ lies }: SimulatedProvider) =>
      !lies.isEmpty &&
      !lies.garblesAmounts &&
      lies.indexLag === 0 &&
      lies.behind === 0 &&
      lies.shiftMs === 0 &&
      lies.prunedTo < 0 &&
      !lies.isDead;
    hiddenMs = chain.providers.some(isHonest) ? 0 : hiddenMs + ms;
    if (hiddenMs < hiddenMaxMs) return;
    for (const { lies } of chain.providers)
      Object.assign(lies, { isEmpty: false, garblesAmounts: false, indexLag: 0 });
  }

  async function wait(ms: number): Promise<void> {
    for (const part of partsOf(ms)) {
      now += part;
      endIndexLies(part);
      // After a long part, the blocks before it are final: a chain does not stand still for days.
      mine(part > 5 * minute ? finalityLag + 1 : 2);
      await look();
      if (now - billedAt > hour) await bill();
    }
  }

  return {
    stage,
    db,
    chain,
    chance,
    deeds,
    attempt,
    look,
    bill,
    mine,
    wait,
    now: () => now,
    pass,
    planCrash(point) {
      crashing.plan(point);
    },
    async invoiceAt(number) {
      const { asked } = deeds;
      const id = asked[asked.length === 0 ? 0 : asked.length - 1 - (number % asked.length)];
      return id === undefined ? null : db.findOne(invoices, "WHERE id = $1", [id]);
    },
  };
}

/**
 * Splits a wait at the times when the watcher runs. A long one begins with the hour in which it reads final blocks again:
 * days without any run would hide payments for longer than Till promises to look for them. Each of its runs is followed
 * by another, because a provider that failed a reading is left out for a minute, in which another one makes it.
 */
function partsOf(ms: number): readonly number[] {
  if (ms <= 5 * minute) return [ms];
  const half = Math.floor(ms / 2);
  if (ms <= 2 * hour) return [half, ms - half];
  const firstHour = [6, 0.5, 6, 0.5, 62, 0.5].map((count) => count * minute);
  const rest = Math.floor((ms - firstHour.reduce((sum, part) => sum + part, 0)) / 4);
  return [...firstHour, rest, rest, rest, rest];
}

function placeOf({ transactionHash, blockHash }: TransferLog): string {
  return `${transactionHash} ${blockHash}`;
}

/** Returns the items that a condition holds for, and the others. */
function partition<T>(items: readonly T[], holds: (item: T) => boolean): [T[], T[]] {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}

function isKilled(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Killed) return true;
  }
  return false;
}
