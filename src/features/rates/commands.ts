import { commandsOf, type Column } from "../../api/declare/command.ts";
import type { presentRate } from "./present.ts";
import type { RatesService, RateView } from "./service.ts";

type ShownRate = ReturnType<typeof presentRate>;

const command = commandsOf<RatesService>();

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

async function presentAll(views: readonly RateView[]) {
  return (await import("./present.ts")).presentRates(views);
}

export const rateCommands = [
  command({
    name: "rates list",
    summary: "List the exchange rates for invoices",
    examples: ["till rates list", "till rates list --json"],
    effect: "read",
    handle: (rates) => rates.list(),
    present: presentAll,
    columns,
    identify: (one) => one.pair,
  }),
  command({
    name: "rates refresh",
    summary: "Query all rate sources now and report their problems",
    examples: ["till rates refresh", "till rates refresh --json"],
    effect: "write-without-trial",
    handle: (rates, call) => rates.refresh(call.context),
    present: presentAll,
    columns,
    identify: (one) => one.pair,
    async fault({ data }) {
      const wrong = data.filter(({ problem }) => problem !== null);
      if (wrong.length === 0) return null;
      const { RatesIncomplete } = await import("./errors.ts");
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
    async look(rates, call) {
      const { presentRate } = await import("./present.ts");
      const views = (await rates.list()).map(presentRate);
      const before = views.find(({ pair }) => pair === call.argument("pair"));
      if (before === undefined) {
        const { NotFound } = await import("../../kernel/errors.ts");
        const known = views.map(({ pair }) => pair).join(", ");
        throw new NotFound(`No such pair is configured. Pairs: ${known === "" ? "none" : known}.`);
      }
      return { subject: `the pending rate of ${before.pair}, ${before.status}`, before };
    },
    confirm: (_call, subject) => `Accept ${subject}? New invoices will use it.`,
    handle: (rates, call) => rates.accept(call.context, call.argument("pair")),
    async present(view) {
      return (await import("./present.ts")).presentRate(view);
    },
    columns,
    identify: (one) => one.pair,
  }),
];
