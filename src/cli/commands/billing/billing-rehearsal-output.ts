import { once } from "node:events";
import { section, type Section } from "../../../api/declare/command.ts";
import type { Rehearsal } from "../../../compose/rehearsal/rehearse-billing.ts";
import {
  makeMonthlySums,
  type MonthlySum,
  type RehearsedEvent,
  type RehearsedFailure,
  type RehearsedInvoice,
} from "../../../features/billing/rehearsal/report.ts";
import type { RehearsalPlan } from "../../../features/billing/rehearsal/rehearsal.ts";
import { toIso } from "../../../kernel/clock.ts";
import { printSection } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** Rows of one table. Further rows are in further tables, so that a table of any length needs little memory. */
const tableRowsMax = 1_000;
const dateLength = "2026-12-01".length;

/** Prints a rehearsal while it is read: as tables, as one JSON document, or the numbers of its invoices. */
export async function printRehearsal(
  terminal: Terminal,
  plan: RehearsalPlan,
  rehearsal: Rehearsal,
  signal: AbortSignal,
): Promise<void> {
  switch (terminal.form) {
    case "json":
      return printJson(terminal, plan, rehearsal, signal);
    case "quiet":
      for await (const { shown } of rehearsal.invoices()) {
        terminal.data(shown.number);
        await drained(terminal, signal);
      }
      return;
    case "people":
      return printTables(terminal, plan, rehearsal, signal);
  }
}

async function printJson(
  terminal: Terminal,
  { months, payments, organizationId }: RehearsalPlan,
  { from, to, subscriptions, ...read }: Rehearsal,
  signal: AbortSignal,
): Promise<void> {
  const sums = makeMonthlySums();
  const head = JSON.stringify({
    from: toIso(from),
    to: toIso(to),
    months,
    payments,
    organizationId,
    subscriptions,
  });
  terminal.data(head.slice(0, -1));
  await printList(terminal, "invoices", shownOf(read.invoices(), sums), signal);
  await printList(terminal, "events", read.events(), signal);
  await printList(terminal, "failures", read.failures(), signal);
  terminal.data(`,"sums":${JSON.stringify(sums.months())}`);
  terminal.data(`,"totals":${JSON.stringify(sums.foot())}}`);
}

/** Prints a member of a JSON object that is a list, one item a line. */
async function printList(
  terminal: Terminal,
  name: string,
  items: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  terminal.data(`,${JSON.stringify(name)}:[`);
  let before = "";
  for await (const item of items) {
    terminal.data(before + JSON.stringify(item));
    before = ",";
    await drained(terminal, signal);
  }
  terminal.data("]");
}

/** Waits until the reader of a pipe has taken what was printed. */
async function drained({ surroundings }: Terminal, signal: AbortSignal): Promise<void> {
  const { stdout } = surroundings;
  signal.throwIfAborted();
  if (!stdout.writableNeedDrain || stdout.destroyed) return;
  const done = new AbortController();
  const over = { signal: AbortSignal.any([done.signal, signal]) };
  try {
    await Promise.race([once(stdout, "drain", over), once(stdout, "close", over)]);
  } finally {
    done.abort();
  }
}

/** Returns the invoices as they are shown, and adds them up. */
async function* shownOf(
  invoices: AsyncIterable<RehearsedInvoice>,
  sums: ReturnType<typeof makeMonthlySums>,
): AsyncGenerator<RehearsedInvoice["shown"]> {
  for await (const { row, shown } of invoices) {
    sums.add(row);
    yield shown;
  }
}

async function printTables(
  terminal: Terminal,
  { payments }: RehearsalPlan,
  { from, to, subscriptions, ...read }: Rehearsal,
  signal: AbortSignal,
): Promise<void> {
  const sums = makeMonthlySums();
  await printAll(terminal, shownOf(read.invoices(), sums), invoiceSection, signal);
  await printAll(terminal, read.events(), eventSection, signal);
  await printAll(terminal, read.failures(), failureSection, signal);
  await printSection(terminal, sumSection([...sums.months(), ...sums.foot()]));
  terminal.talk(
    `Rehearsed ${String(subscriptions)} ${subscriptions === 1 ? "subscription" : "subscriptions"} from ${dateOf(toIso(from))} to ${dateOf(toIso(to))} on a copy of the store. Nothing was changed.`,
  );
  terminal.talk(`${assumptions[payments]} They issue no further invoices, so no further usage.`);
}

const assumptions: Readonly<Record<RehearsalPlan["payments"], string>> = {
  "on-time": "Merchants pay each invoice within the last day before it is due.",
  late: "Merchants pay each invoice three days after it is due.",
  never: "Merchants pay nothing.",
};

/** Prints items as tables of limited length. */
async function printAll<Item>(
  terminal: Terminal,
  items: AsyncIterable<Item>,
  sectionOf: (rows: readonly Item[], isFirst: boolean) => Section,
  signal: AbortSignal,
): Promise<void> {
  let rows: Item[] = [];
  let isFirst = true;
  for await (const item of items) {
    rows.push(item);
    if (rows.length < tableRowsMax) continue;
    await printSection(terminal, sectionOf(rows, isFirst));
    await drained(terminal, signal);
    rows = [];
    isFirst = false;
  }
  await printSection(terminal, sectionOf(rows, isFirst));
}

function titled(title: string, isFirst: boolean): string {
  return isFirst ? title : `${title}, continued`;
}

function dateOf(time: string): string {
  return time.slice(0, dateLength);
}

const invoiceSection = (items: readonly RehearsedInvoice["shown"][], isFirst: boolean) =>
  section({
    title: titled("Invoices", isFirst),
    items,
    columns: [
      "number",
      ["organizationName", "Organization"],
      { title: "Issued", value: (one) => dateOf(one.issuedAt) },
      { title: "Until", value: (one) => dateOf(one.periodEnd) },
      "status",
      ["total currency", "Total"],
      ["subtotal", "Subtotal"],
      ["discountTotal", "Discounts"],
      ["creditTotal", "Credits"],
    ],
  });

const eventSection = (items: readonly RehearsedEvent[], isFirst: boolean) =>
  section({
    title: titled("Events", isFirst),
    items,
    columns: [
      { title: "On", value: (one) => dateOf(one.at) },
      ["organizationName", "Organization"],
      "event",
      { title: "Details", value: ({ changes }) => detailsOf(changes) },
    ],
  });

const failureSection = (items: readonly RehearsedFailure[], isFirst: boolean) =>
  section({
    title: titled("Cannot be billed", isFirst),
    items,
    columns: [
      { title: "Since", value: (one) => dateOf(one.since) },
      ["organizationName", "Organization"],
      ["subscriptionId", "Subscription"],
      "reason",
    ],
  });

const sumSection = (items: readonly MonthlySum[]) =>
  section({
    title: "Sums by month of issue",
    items,
    columns: [
      { title: "Month", value: ({ month }) => month ?? "all" },
      "currency",
      "invoices",
      ["voided", "Void"],
      "subtotal",
      "discounts",
      "credits",
      "total",
      "paid",
      "carried",
      "unpaid",
    ],
  });

/** Puts the changes of an event into words: number, amount and plan first, then each value that changed. */
function detailsOf(changes: RehearsedEvent["changes"]): string {
  const { number, plan, currency, total, amount } = changes;
  const sum = total ?? amount;
  const changed = Object.entries(changes).flatMap(([name, value]) =>
    isChange(value) ? [`${name}: ${textOf(value.from)} → ${textOf(value.to)}`] : [],
  );
  const known = [
    typeof number === "string" ? number : null,
    typeof sum === "string" && typeof currency === "string" ? `${sum} ${currency}` : null,
    typeof plan === "string" ? plan : null,
  ];
  return [...known.filter((word) => word !== null), ...changed].join(", ");
}

function isChange(value: unknown): value is { readonly from: unknown; readonly to: unknown } {
  return typeof value === "object" && value !== null && "from" in value && "to" in value;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "-";
}
