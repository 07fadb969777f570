import { once } from "node:events";
import { section, type Column } from "../../http/declare/command.ts";
import { rehearseBilling, type Rehearsal } from "../../compose/rehearse-billing.ts";
import { requireStoreFile } from "../../compose/store-location.ts";
import { secretFor } from "../../compose/store-secret.ts";
import { openReadOnlyStore } from "../../compose/read-only-store.ts";
import { paymentHabits, type PaymentHabit } from "../../features/billing/status.ts";
import {
  rehearsalMonthsMax,
  type RehearsalPlan,
} from "../../features/billing/rehearsal/rehearsal.ts";
import { nextInvoicesCommand } from "../../features/billing/commands.ts";
import {
  makeMonthlySums,
  type MonthlySum,
  type RehearsedEvent,
  type RehearsedFailure,
  type RehearsedInvoice,
} from "../../features/billing/rehearsal/report.ts";
import { systemClock, toIso } from "../../kernel/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import type { Options } from "../command-words.ts";
import { UsageError } from "../failures/refusals.ts";
import { runFeatureCommand } from "../feature-command.ts";
import { interruptibly } from "../interrupt.ts";
import { findNamed } from "../organization.ts";
import { loadStoreSettings, logLevelOf } from "../settings.ts";
import { printSection } from "../terminal/output.ts";
import { startProgress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The flags of the preview, which is a page of subscriptions. */
const ofPreview = ["status", "limit", "cursor"];

/**
 * `till billing rehearse`: previews the next invoices; with --months, runs billing through future months on a private
 * copy of the store, which may be in use and is only read.
 */
export async function rehearseCommand(terminal: Terminal, flags: Options): Promise<void> {
  if (flags["months"] === undefined) {
    if (flags["payments"] !== undefined) {
      throw new UsageError("--payments needs --months. Without it, only next invoices are shown.");
    }
    const given = { arguments: {}, flags };
    await runFeatureCommand(terminal, nextInvoicesCommand, given);
    return;
  }
  const wrong = ofPreview.filter((name) => flags[name] !== undefined);
  if (wrong.length > 0) {
    const names = wrong.map((name) => `--${name}`).join(", ");
    throw new UsageError(`Leave out ${names}, which only the preview without --months takes.`);
  }
  const months = monthsOf(flags["months"]);
  const payments = habitOf(flags["payments"]);
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  await requireStoreFile(config);
  const secret = await secretFor(config, false, systemRandom);
  const organizationId = await findOrganization(config, flags["organization"]);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const plan = { from: systemClock.now(), months, payments, organizationId };
  const bar = startProgress(terminal);
  try {
    await interruptibly((signal) =>
      rehearseBilling(
        { config, secret, logger, signal, randomBytes: systemRandom, progress: bar.report },
        plan,
        async (rehearsal) => {
          bar.end();
          await printRehearsal(terminal, plan, rehearsal, signal);
        },
      ),
    );
  } finally {
    bar.end();
  }
}

function monthsOf(given: string | boolean | undefined): number {
  const months = typeof given === "string" && /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (months >= 1 && months <= rehearsalMonthsMax) return months;
  throw new UsageError(
    `--months must be a whole number from 1 to ${String(rehearsalMonthsMax)}, not ${JSON.stringify(given)}.`,
  );
}

function habitOf(given: string | boolean | undefined): PaymentHabit {
  const habit = paymentHabits.find((one) => one === (given ?? "on-time"));
  if (habit !== undefined) return habit;
  throw new UsageError(
    `--payments must be ${paymentHabits.join(", ")}, not ${JSON.stringify(given)}.`,
  );
}

/** Returns the id of the organization with an id or a name; null if none was given. */
async function findOrganization(config: Config, given: string | boolean | undefined) {
  if (typeof given !== "string") return null;
  const store = await openReadOnlyStore(config, systemClock);
  try {
    return (await findNamed(store.reader, given)).id;
  } finally {
    await store.close();
  }
}

/** Rows of one table. Further rows are in further tables, so that a table of any length needs little memory. */
const tableRowsMax = 1_000;
const dateLength = "2026-12-01".length;

/** Prints a rehearsal while it is read: as tables, as one JSON document, or the numbers of its invoices. */
async function printRehearsal(
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
  await printAll(terminal, "Invoices", shownOf(read.invoices(), sums), invoiceColumns, signal);
  await printAll(terminal, "Events", read.events(), eventColumns, signal);
  await printAll(terminal, "Cannot be billed", read.failures(), failureColumns, signal);
  const items = [...sums.months(), ...sums.foot()];
  await printSection(
    terminal,
    section({ title: "Sums by month of issue", items, columns: sumColumns }),
  );
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
  title: string,
  items: AsyncIterable<Item>,
  columns: readonly Column<Item>[],
  signal: AbortSignal,
): Promise<void> {
  let rows: Item[] = [];
  let shownTitle = title;
  for await (const item of items) {
    rows.push(item);
    if (rows.length < tableRowsMax) continue;
    await printSection(terminal, section({ title: shownTitle, items: rows, columns }));
    await drained(terminal, signal);
    rows = [];
    shownTitle = `${title}, continued`;
  }
  await printSection(terminal, section({ title: shownTitle, items: rows, columns }));
}

function dateOf(time: string): string {
  return time.slice(0, dateLength);
}

const invoiceColumns: readonly Column<RehearsedInvoice["shown"]>[] = [
  "number",
  ["organizationName", "Organization"],
  { title: "Issued", value: (one) => dateOf(one.issuedAt) },
  { title: "Until", value: (one) => dateOf(one.periodEnd) },
  "status",
  ["total currency", "Total"],
  ["subtotal", "Subtotal"],
  ["discountTotal", "Discounts"],
  ["creditTotal", "Credits"],
];

const eventColumns: readonly Column<RehearsedEvent>[] = [
  { title: "On", value: (one) => dateOf(one.at) },
  ["organizationName", "Organization"],
  "event",
  { title: "Details", value: ({ changes }) => detailsOf(changes) },
];

const failureColumns: readonly Column<RehearsedFailure>[] = [
  { title: "Since", value: (one) => dateOf(one.since) },
  ["organizationName", "Organization"],
  ["subscriptionId", "Subscription"],
  "reason",
];

const sumColumns: readonly Column<MonthlySum>[] = [
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
];

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
