import type { Clock, Instant } from "../../kernel/clock.ts";
import { formatRate } from "../../kernel/rate.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/index.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import { askSource, SourceFault, type RateFetch } from "../../platform/rates/source.ts";
import { NoSuchPair, NothingToAccept } from "./errors.ts";
import {
  afterCheck,
  combine,
  isFresh,
  unknownPair,
  type PairState,
  type SourceAnswer,
} from "./rules.ts";
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
  /** Asks every source now, outside of any transaction, and writes down what comes of it. */
  refresh(context: WriteContext, guard?: (tx: Tx) => Promise<void>): Promise<RateView[]>;
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
  const told = new Map<string, string | null>();

  function view(pair: RatePair, book: Book, at: Instant): RateView {
    const state = book.get(pair.name) ?? unknownPair;
    if (pair.fixed !== null) {
      const accepted = { rate: pair.fixed, source: "fixed", at };
      return { ...unknownPair, pair, status: "fixed", accepted };
    }
    const { accepted } = state;
    const isQuoted = accepted !== null && isFresh(accepted, plan.maxAgeMs, at);
    return { ...state, pair, status: accepted === null ? "missing" : isQuoted ? "fresh" : "stale" };
  }

  async function ask(pair: RatePair): Promise<SourceAnswer[]> {
    return Promise.all(
      pair.sources.map(async (source): Promise<SourceAnswer> => {
        const { name } = source;
        try {
          return { source: name, rate: await askSource(source, pair, { fetch, signal: stopping }) };
        } catch (error) {
          if (!(error instanceof SourceFault)) throw error;
          return { source: name, fault: error.message };
        }
      }),
    );
  }

  /** Says what is wrong with a pair once, and once that it is over. */
  function tell(pair: RatePair, { problem, pending }: PairState): void {
    if ((told.get(pair.name) ?? null) === problem) return;
    told.set(pair.name, problem);
    const { name } = pair;
    if (problem === null) logger.info({ pair: name }, "the rate is had again");
    else {
      const alarm = pending === null ? "rate_problem" : "rate_jump";
      logger.warn({ alarm, pair: name, problem }, "something is wrong with a rate");
    }
  }

  return {
    async list() {
      const book = await readBook(db);
      return plan.pairs.map((pair) => view(pair, book, clock.now()));
    },

    async refresh(context, guard) {
      const answers = await Promise.all(
        asked.map(async (pair) => [pair, await ask(pair)] as const),
      );
      const { book, at } = await db.write(context, async (tx) => {
        await guard?.(tx);
        const now = clock.now();
        const before = await lockBook(tx, now);
        // Pairs that left the file are forgotten.
        const after = new Map(
          answers.map(([pair, given]) => [
            pair.name,
            afterCheck(before.get(pair.name) ?? unknownPair, combine(given, plan, now), plan, now),
          ]),
        );
        await writeBook(tx, after, now);
        return { book: after, at: now };
      });
      for (const pair of asked) tell(pair, book.get(pair.name) ?? unknownPair);
      return plan.pairs.map((pair) => view(pair, book, at));
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
      const problems = views.flatMap(({ pair, status, problem }) =>
        problem === null && status === "fresh" ? [] : [`${pair.name}: ${problem ?? status}`],
      );
      return {
        status: isDown ? "down" : problems.length > 0 ? "degraded" : "ok",
        oldestQuoteAt: times.length === 0 ? null : Math.min(...times),
        problems,
      };
    },
  };
}
