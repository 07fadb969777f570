import { perApp, type App } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { formatRate } from "../../kernel/money/ratio.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/logger/index.ts";
import { makeOutwardFetch } from "../../platform/outbound/proxy.ts";
import type { RatePair, RatesPlan } from "../../platform/rates/plan.ts";
import { createPoller, type RateFetch } from "../../platform/rates/source.ts";
import { afterCheck, combine, isFresh, unknownPair, type PairState } from "./rules.ts";
import { lockBook, readBook, writeBook, type Book } from "./store.ts";

const NoSuchPair = defineProblem({
  code: "no_such_pair",
  status: 404,
  title: "Unknown currency pair",
});
const NothingToAccept = defineProblem({
  code: "nothing_to_accept",
  status: 409,
  title: "The pair has no pending rate",
});

/** Invoices can be issued only for `fixed` and `fresh`. */
type RateStatus = "fixed" | "fresh" | "stale" | "missing";

export interface RateView extends PairState {
  readonly pair: RatePair;
  readonly status: RateStatus;
}

export interface RatesHealth {
  readonly status: "ok" | "degraded" | "down";
  /** Time of the oldest accepted quote from sources; null without one. */
  readonly oldestQuoteAt: Instant | null;
  /** Problems of the pairs, as sentences for the operator. */
  readonly problems: readonly string[];
}

/** The sources of the pairs, with their last responses, and the state of their checks in this process. */
interface RateSources {
  readonly asked: readonly RatePair[];
  readonly poller: ReturnType<typeof createPoller>;
  /** Last check by this process or an earlier one on the same store; null until looked up. */
  checkedAt: Instant | null;
  hasPolled: boolean;
  reported: ReadonlySet<string>;
}

export function makeRateSources(
  { config, clock, stopping }: App,
  fetch: RateFetch = makeOutwardFetch(config.proxy),
): RateSources {
  const plan = config.rates;
  return {
    asked: plan.pairs.filter(({ fixed }) => fixed === null),
    poller: createPoller({ plan, clock, asking: { fetch, signal: stopping } }),
    checkedAt: null,
    hasPolled: false,
    reported: new Set(),
  };
}

const sourcesOf = perApp((app) => makeRateSources(app));

/** Returns every configured pair, in the order of the file. */
export async function listRates({ db, clock, config }: App): Promise<RateView[]> {
  const plan = config.rates;
  const book = await readBook(db);
  return plan.pairs.map((pair) => viewOf(plan, pair, book, clock.now()));
}

/** Queries every source now, outside of any transaction, and stores the result. */
export async function refreshRates(
  app: App,
  context: WriteContext,
  sources = sourcesOf(app),
): Promise<RateView[]> {
  sources.hasPolled = true;
  await sources.poller.poll("all");
  return checkRates(app, sources, context);
}

/**
 * Queries the due sources, and checks all pairs at the plan's interval using the last response of each source. Does
 * nothing if nothing is due. `guard` runs in the transaction that stores the result.
 */
export async function refreshDueRates(
  app: App,
  context: WriteContext,
  guard: (tx: Tx) => Promise<void>,
  sources = sourcesOf(app),
): Promise<void> {
  const { poller } = sources;
  sources.checkedAt ??= await lastCheck(app, sources);
  const now = app.clock.now();
  const isCheckDue =
    now - sources.checkedAt >= app.config.rates.refreshMs || sources.checkedAt > now;
  if (!isCheckDue && !(sources.hasPolled && poller.isDue(now))) return;
  sources.hasPolled = true;
  await poller.poll("due");
  await checkRates(app, sources, context, guard);
}

/** Confirms a pending jump. Throws 404 for an unknown pair and 409 if nothing is pending. */
export async function acceptRate(
  { db, clock, journal, config }: App,
  context: WriteContext,
  pairName: string,
): Promise<RateView> {
  const plan = config.rates;
  const pair = plan.pairs.find(({ name }) => name === pairName);
  if (pair === undefined) {
    const names = plan.pairs.map(({ name }) => name).join(", ");
    throw new NoSuchPair(`Configured pairs: ${names === "" ? "none" : names}.`);
  }
  return db.write(context, async (tx) => {
    const at = clock.now();
    const book = new Map(await lockBook(tx, at));
    const state = book.get(pairName) ?? unknownPair;
    const { pending, accepted } = state;
    if (pending === null) {
      throw new NothingToAccept("till rates list shows pending rates.");
    }
    book.set(pairName, { ...state, accepted: pending, pending: null, problem: null });
    await writeBook(tx, book, at);
    journal.record(tx, at, {
      action: "rate.accepted",
      organizationId: null,
      subjectType: "rate",
      subjectId: pairName,
      changes: {
        rate: {
          from: accepted === null ? null : formatRate(accepted.rate),
          to: formatRate(pending.rate),
        },
      },
    });
    return viewOf(plan, pair, book, at);
  });
}

/** `ok` if every pair has a quote and every source responds; `down` if a pair has no quote. */
export async function ratesHealth(app: App): Promise<RatesHealth> {
  const views = (await listRates(app)).filter(({ status }) => status !== "fixed");
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
}

function viewOf(
  plan: Pick<RatesPlan, "maxAgeMs">,
  pair: RatePair,
  book: Book,
  at: Instant,
): RateView {
  if (pair.fixed !== null) {
    const accepted = { rate: pair.fixed, sources: [], at };
    return { ...unknownPair, pair, status: "fixed", accepted };
  }
  const state = book.get(pair.name) ?? unknownPair;
  const { accepted } = state;
  const isQuoted = accepted !== null && isFresh(accepted, plan.maxAgeMs, at);
  return { ...state, pair, status: accepted === null ? "missing" : isQuoted ? "fresh" : "stale" };
}

/** Returns the time of the last check in the store, so that frequent restarts do not cause more queries. */
async function lastCheck({ db }: App, { asked }: RateSources): Promise<Instant> {
  const book = await readBook(db);
  return Math.min(...asked.map(({ name }) => book.get(name)?.checkedAt ?? 0));
}

/** Stores the combined result of the sources' last responses. */
async function checkRates(
  { db, clock, logger, config }: App,
  sources: RateSources,
  context: WriteContext,
  guard?: (tx: Tx) => Promise<void>,
): Promise<RateView[]> {
  const { asked, poller } = sources;
  const plan = config.rates;
  const { book, at } = await db.write(context, async (tx) => {
    await guard?.(tx);
    const now = clock.now();
    const before = await lockBook(tx, now);
    // Pairs that were removed from the file are dropped.
    const after = new Map(
      asked.map((pair) => {
        const combined = combine(poller.repliesOf(pair), pair, now);
        const known = before.get(pair.name) ?? unknownPair;
        return [pair.name, afterCheck(known, combined, plan, now, poller.nextAt(pair))];
      }),
    );
    await writeBook(tx, after, now);
    return { book: after, at: now };
  });
  sources.checkedAt = at;
  reportFaults(logger, sources, book);
  return plan.pairs.map((pair) => viewOf(plan, pair, book, at));
}

/** Logs each new problem once with all its pairs, and the recovery of all pairs once. */
function reportFaults(logger: Logger, sources: RateSources, book: Book): void {
  const problems = byProblem(
    sources.asked.map(({ name }) => {
      const { problem, pending } = book.get(name) ?? unknownPair;
      return { name, problem, alarm: pending === null ? "rate_problem" : "rate_jump" };
    }),
  );
  for (const [problem, pairs] of problems) {
    if (sources.reported.has(problem)) continue;
    const [first] = pairs;
    const names = pairs.map(({ name }) => name);
    logger.warn({ alarm: first.alarm, pairs: names, problem }, "problem with exchange rates");
  }
  if (problems.size === 0 && sources.reported.size > 0)
    logger.info("all exchange rates have quotes again");
  sources.reported = new Set(problems.keys());
}

/**
 * Groups pairs by problem, because a failing source affects all its pairs alike; pairs without a problem are omitted.
 */
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
