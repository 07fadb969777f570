import { day, toIso } from "../../kernel/clock.ts";
import { violationsMax, type Check } from "../../platform/database/schema/checks.ts";
import { signedSums } from "../../platform/database/query/sum-amounts.ts";
import type { Reader } from "../../platform/database/database.ts";
import { platformScope } from "../usage/meter.ts";
import { inFigureDecimals } from "./figures.ts";

const nothing = "0".repeat(78);

/** Builds a query of figures with a key that identifies equal figures. */
function figureRows(given: {
  readonly organization: string;
  readonly measure: string;
  readonly at: string;
  readonly currency: string;
  readonly subject: string;
  readonly items: string;
  readonly sign: string;
  readonly amount: string;
  readonly from: string;
}): string {
  const { organization, measure, at, currency, subject, items, sign, amount, from } = given;
  const key = [
    organization,
    measure,
    currency,
    subject,
    `CAST(${at} / ${String(day)} AS TEXT)`,
  ].join(" || ' ' || ");
  return `SELECT ${key} AS key, ${items} AS items, ${sign} AS sign, ${amount} AS amount FROM ${from}`;
}

const issued = (organization: string) =>
  figureRows({
    organization,
    measure: "'invoices'",
    at: "issued_at",
    currency: "settlement_currency",
    subject: "status",
    items: "1",
    sign: "1",
    amount: inFigureDecimals("amount", "settlement_decimals"),
    from: "invoices WHERE issued_at IS NOT NULL AND managed_by IS NULL",
  });

const confirmed = (organization: string, measure: string, subject: string) =>
  figureRows({
    organization,
    measure: `'${measure}'`,
    at: "payments.block_time",
    subject,
    currency: "payments.settlement_currency",
    items: "1",
    sign: "1",
    amount: inFigureDecimals("payments.settlement_amount", "payments.settlement_decimals"),
    from: `payments JOIN invoices ON invoices.id = payments.invoice_id
      WHERE payments.status = 'confirmed' AND invoices.managed_by IS NULL AND ${subject} IS NOT NULL`,
  });

/** The expected figures, computed from every issued invoice and every confirmed payment. */
const facts = [
  issued("organization_id"),
  issued(`'${platformScope}'`),
  confirmed("payments.organization_id", "volume", "''"),
  confirmed(
    "payments.organization_id",
    "wallet",
    "COALESCE(payments.wallet_id, invoices.wallet_id)",
  ),
  confirmed("payments.organization_id", "customer", "invoices.customer_id"),
  confirmed(`'${platformScope}'`, "volume", "''"),
  confirmed(`'${platformScope}'`, "organization", "payments.organization_id"),
];

const summed = (grain: "day" | "hour", sign: "" | "-") =>
  figureRows({
    organization: "organization_id",
    measure: "measure",
    at: "starts_at",
    currency: "currency",
    subject: "subject",
    amount: "amount",
    items: `${sign}items`,
    sign: `${sign}sign`,
    from: `figures WHERE grain = '${grain}'`,
  });

const waiting = (organization: string, measure: string, subject: string, condition: string) =>
  figureRows({
    organization,
    measure,
    at: "happened_at",
    currency: "currency",
    subject,
    items: "-items",
    sign: "-sign",
    amount: "amount",
    from: `figure_changes WHERE ${condition}`,
  });

/** The stored figures, negated: sums, and changes that are not summed yet. */
const figures = [
  summed("day", "-"),
  waiting("organization_id", "measure", "subject", "true"),
  waiting(`'${platformScope}'`, "measure", "subject", "measure IN ('invoices', 'volume')"),
  waiting(`'${platformScope}'`, "'organization'", "organization_id", "measure = 'volume'"),
];

/** Returns the keys whose rows do not sum to zero. */
async function unequal(reader: Reader, rows: readonly string[]): Promise<string[]> {
  const found = await reader.all<{ key: string }>(
    `SELECT key FROM (${signedSums(reader.dialect, rows.join(" UNION ALL "))}) AS sums
     WHERE items <> 0 OR total <> '${nothing}' ORDER BY key LIMIT ${String(violationsMax)}`,
  );
  return found.map(({ key }) => named(key));
}

/** Converts the day in a key to a date. */
function named(key: string): string {
  const parts = key.split(" ");
  const number = Number(parts.pop());
  return [...parts.filter((part) => part !== ""), toIso(number * day).slice(0, 10)].join(" ");
}

const advice =
  "Figures are stored in figures and figure_changes. Delete the rows of both tables and count every issued invoice and confirmed payment again.";

export const analyticsChecks: readonly Check[] = [
  {
    name: "figures.facts",
    describe: "Each day's figures match the sums of its invoices and payments.",
    advice,
    run: async (reader) =>
      (await unequal(reader, [...facts, ...figures])).map((row) => ({
        row,
        fault: "The day's figures differ from the sums of its invoices and payments.",
      })),
  },
  {
    name: "figures.hours",
    describe: "The figures of a day's hours sum to the figures of the day.",
    advice,
    run: async (reader) =>
      (await unequal(reader, [summed("hour", ""), summed("day", "-")])).map((row) => ({
        row,
        fault: "The figures of the hours do not sum to the day's figures.",
      })),
  },
];
