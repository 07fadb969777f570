import { command, type Column } from "../../http/declare/command.ts";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import { defineProblem, NotFound } from "../../kernel/errors.ts";
import { formatRate } from "../../kernel/money/ratio.ts";
import { acceptRate, listRates, refreshRates, type RateView } from "./rates.ts";
import { sourceSeparator, type QuotedRate } from "./rules.ts";

const RatesIncomplete = defineProblem({
  code: "rates_incomplete",
  status: 503,
  title: "Some rates are unavailable",
});

const shown = (one: QuotedRate | null) =>
  one === null
    ? null
    : {
        rate: formatRate(one.rate),
        source: one.sources.length === 0 ? "fixed" : one.sources.join(sourceSeparator),
        /** Number of sources that agreed. */
        sources: one.sources.length,
        at: toIso(one.at),
      };

/** Presents a pair's rate for the operator. */
function presentRate(view: RateView) {
  const { pair, status, accepted, pending, checkedAt, nextAt, problem } = view;
  return {
    pair: pair.name,
    status,
    quote: shown(accepted),
    pending: shown(pending),
    /** Number of sources queried; `quote.sources` of them agreed. */
    sources: pair.sources.length,
    checkedAt: toIsoOrNull(checkedAt),
    nextAt: toIsoOrNull(nextAt),
    problem,
  };
}

export function presentRates(views: readonly RateView[]) {
  return { data: views.map(presentRate), nextCursor: null };
}

type ShownRate = ReturnType<typeof presentRate>;

const columns: readonly Column<ShownRate>[] = [
  "pair",
  { title: "Rate", value: (one) => one.quote?.rate ?? null },
  "status",
  { title: "From", value: (one) => one.quote?.source ?? null },
  { title: "Sources", value: agreeing },
  { title: "At", value: (one) => one.quote?.at ?? null },
  { title: "Pending", value: (one) => one.pending?.rate ?? null },
  "problem",
];

/** Returns `2 of 3`: sources that agreed on the quote, of all sources queried. */
function agreeing({ quote, sources }: ShownRate): string | null {
  if (sources === 0) return null;
  return `${String(quote?.sources ?? 0)} of ${String(sources)}`;
}

export const rateCommands = [
  command({
    name: "rates list",
    summary: "List the exchange rates for invoices",
    examples: ["till rates list", "till rates list --json"],
    effect: "read",
    handle: (app) => listRates(app),
    present: presentRates,
    columns,
    identify: (one) => one.pair,
  }),
  command({
    name: "rates refresh",
    summary: "Query all rate sources now and report their problems",
    examples: ["till rates refresh", "till rates refresh --json"],
    effect: "write-without-trial",
    handle: (app, call) => refreshRates(app, call.context),
    present: presentRates,
    columns,
    identify: (one) => one.pair,
    fault({ data }) {
      const wrong = data.filter(({ problem }) => problem !== null);
      if (wrong.length === 0) return null;
      const reported = wrong.map(({ pair, problem }) => `${pair}: ${problem ?? ""}`);
      return new RatesIncomplete(`${reported.join(". ")}.`);
    },
  }),
  command({
    name: "rates accept",
    summary: "Confirm a rate jump that is pending",
    arguments: [{ name: "pair", description: "such as EUR/USD" }],
    examples: ["till rates accept EUR/USD", "till rates accept EUR/USD --yes --json"],
    effect: "write",
    async look(app, call) {
      const views = (await listRates(app)).map(presentRate);
      const before = views.find(({ pair }) => pair === call.argument("pair"));
      if (before === undefined) {
        const known = views.map(({ pair }) => pair).join(", ");
        throw new NotFound(`No such pair is configured. Pairs: ${known === "" ? "none" : known}.`);
      }
      return { subject: `the pending rate of ${before.pair}, ${before.status}`, before };
    },
    confirm: (_call, subject) => `Accept ${subject}? New invoices will use it.`,
    handle: (app, call) => acceptRate(app, call.context, call.argument("pair")),
    present: presentRate,
    columns,
    identify: (one) => one.pair,
  }),
];
