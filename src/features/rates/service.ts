import type { Clock, Instant } from "../../kernel/clock.ts";
import { formatRate } from "../../kernel/rate.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/index.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import { createPoller } from "../../platform/rates/poller.ts";
import type { RateFetch } from "../../platform/rates/source.ts";
import { NoSuchPair, NothingToAccept } from "./errors.ts";
import { afterCheck, combine, isFresh, unknownPair, type PairState } from "./rules.ts";
import { lockBook, readBook, writeBook, type Book } from "./store.ts";

/** `fixed` and `fresh` are quoted; nothing is issued at the others. */
export type RateStatus = "fixed" | "fresh" | "stale" | "missing";

export interface RateView extends PairState {
  readonly pair: RatePair;
  readonly status: RateStatus;
}

export interface RatesHealth {
  readonly status: "ok" | "degraded" | "down";
  /** Of the oldest accepted quote that sources gave; null where there is none. */
  readonly oldestQuoteAt: Instant | null;
  /** What is wrong, pair by pair, in words for operators. */
  readonly problems: readonly string[];
}

export interface RatesService {
  /** Every configured pair, in the order of the file. */
  list(): Promise<RateView[]>;
  /** Asks every source now, outside of any transaction, and stores the result. */
  refresh(context: WriteContext): Promise<RateView[]>;
  /**
   * Asks the sources that are due, and checks every pair at the plan's interval by the last answer of each source. Does
   * nothing where nothing is due. `guard` runs in the transaction of the result.
   */
  refreshDue(context: WriteContext, guard: (tx: Tx) => Promise<void>): Promise<void>;
  /** Confirms a jump that waits. 404, or 409 where nothing waits. */
  accept(context: WriteContext, pairName: string): Promise<RateView>;
  /** `ok` where every pair is quoted and every source answers; `down` where a pair is not quoted. */
  health(): Promise<RatesHealth>;
}

export function makeRatesService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditor: Auditor;
  readonly plan: RatesPlan;
  readonly fetch: RateFetch;
  /** Aborted when the program stops. */
  readonly stopping: AbortSignal;
}): RatesService {
  const { db, clock, logger, auditor, plan, fetch, stopping } = deps;
  const asked = plan.pairs.filter(({ fixed }) => fixed === null);
  const poller = createPoller({ plan, clock, asking: { fetch, signal: stopping } });
  /** When this process, or one before it on the same store, last checked every pair; null: not looked up yet. */
  let checkedAt: Instant | null = null;
  let hasPolled = false;
  let told: ReadonlySet<string> = new Set();

  function view(pair: RatePair, book: Book, at: Instant): RateView {
    if (pair.fixed !== null) {
      const accepted = { rate: pair.fixed, sources: [], at };
      return { ...unknownPair, pair, status: "fixed", accepted };
    }
    const state = book.get(pair.name) ?? unknownPair;
    const { accepted } = state;
    const isQuoted = accepted !== null && isFresh(accepted, plan.maxAgeMs, at);
    return { ...state, pair, status: accepted === null ? "missing" : isQuoted ? "fresh" : "stale" };
  }

  /** A program that is started again and again asks no more often than one that keeps running. */
  async function lastCheck(): Promise<Instant> {
    const book = await readBook(db);
    return Math.min(...asked.map(({ name }) => book.get(name)?.checkedAt ?? 0));
  }

  /** Stores what the last answers of all sources come to. */
  async function check(
    context: WriteContext,
    guard?: (tx: Tx) => Promise<void>,
  ): Promise<RateView[]> {
    const { book, at } = await db.write(context, async (tx) => {
      await guard?.(tx);
      const now = clock.now();
      const before = await lockBook(tx, now);
      // Pairs that left the file are forgotten.
      const after = new Map(
        asked.map((pair) => {
          const combined = combine(poller.answersOf(pair), pair, now);
          const known = before.get(pair.name) ?? unknownPair;
          return [pair.name, afterCheck(known, combined, plan, now, poller.nextAt(pair))];
        }),
      );
      await writeBook(tx, after, now);
      return { book: after, at: now };
    });
    checkedAt = at;
    tell(book);
    return plan.pairs.map((pair) => view(pair, book, at));
  }

  /** Logs each problem once, with all pairs that have it, and once that every pair is well again. */
  function tell(book: Book): void {
    const problems = byProblem(
      asked.map(({ name }) => {
        const { problem, pending } = book.get(name) ?? unknownPair;
        return { name, problem, alarm: pending === null ? "rate_problem" : "rate_jump" };
      }),
    );
    for (const [problem, pairs] of problems) {
      if (told.has(problem)) continue;
      const [first] = pairs;
      const names = pairs.map(({ name }) => name);
      logger.warn({ alarm: first.alarm, pairs: names, problem }, "exchange rates have a problem");
    }
    if (problems.size === 0 && told.size > 0) logger.info("every exchange rate is quoted again");
    told = new Set(problems.keys());
  }

  return {
    async list() {
      const book = await readBook(db);
      return plan.pairs.map((pair) => view(pair, book, clock.now()));
    },

    async refresh(context) {
      hasPolled = true;
      await poller.poll("all");
      return check(context);
    },

    async refreshDue(context, guard) {
      checkedAt ??= await lastCheck();
      const now = clock.now();
      const isCheckDue = now - checkedAt >= plan.refreshMs || checkedAt > now;
      if (!isCheckDue && !(hasPolled && poller.isDue(now))) return;
      hasPolled = true;
      await poller.poll("due");
      await check(context, guard);
    },

    async accept(context, pairName) {
      const pair = plan.pairs.find(({ name }) => name === pairName);
      if (pair === undefined) {
        const names = plan.pairs.map(({ name }) => name).join(", ");
        throw new NoSuchPair(`Name a pair of the file of rates: ${names === "" ? "none" : names}.`);
      }
      return db.write(context, async (tx) => {
        const at = clock.now();
        const book = new Map(await lockBook(tx, at));
        const state = book.get(pairName) ?? unknownPair;
        const { pending, accepted } = state;
        if (pending === null) {
          throw new NothingToAccept("See till rates list for what there is.");
        }
        book.set(pairName, { ...state, accepted: pending, pending: null, problem: null });
        await writeBook(tx, book, at);
        auditor.record(tx, at, {
          action: "rate.accepted",
          organizationId: null,
          targetType: "rate",
          targetId: pairName,
          changes: {
            rate: {
              from: accepted === null ? null : formatRate(accepted.rate),
              to: formatRate(pending.rate),
            },
          },
        });
        return view(pair, book, at);
      });
    },

    async health() {
      const views = (await this.list()).filter(({ status }) => status !== "fixed");
      const times = views.flatMap(({ accepted }) => (accepted === null ? [] : [accepted.at]));
      const isDown = views.some(({ status }) => status !== "fresh");
      const problems = byProblem(
        views.map(({ pair, status, problem }) => ({
          name: pair.name,
          problem: problem ?? (status === "fresh" ? null : status),
        })),
      );
      return {
        status: isDown ? "down" : problems.size > 0 ? "degraded" : "ok",
        oldestQuoteAt: times.length === 0 ? null : Math.min(...times),
        problems: [...problems].map(
          ([problem, pairs]) => `${pairs.map(({ name }) => name).join(", ")}: ${problem}`,
        ),
      };
    },
  };
}

/** Pairs by their problem, which a source that fails gives all of its pairs alike; pairs without one are left out. */
function byProblem<Pair extends { readonly problem: string | null }>(
  pairs: readonly Pair[],
): ReadonlyMap<string, readonly [Pair, ...Pair[]]> {
  const groups = new Map<string, [Pair, ...Pair[]]>();
  for (const pair of pairs) {
    if (pair.problem === null) continue;
    const group = groups.get(pair.problem);
    if (group === undefined) groups.set(pair.problem, [pair]);
    else group.push(pair);
  }
  return groups;
}
