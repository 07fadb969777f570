import { day, type Instant } from "../../kernel/clock.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import { signedSums } from "../../platform/database/query/sum-amounts.ts";
import type { Reader } from "../../platform/database/database.ts";
import { settlementOf } from "../invoices/options/quotes.ts";
import { figureDecimals } from "../usage/table.ts";
import type { Period } from "./periods.ts";
import { inFigureDecimals, type FigureOwner, type Sum } from "./figures.ts";

/** Sums an organization's drafts by creation time. Drafts are not part of the figures. */
export async function draftsOf(
  reader: Reader,
  organizationId: FigureOwner,
  currency: string,
  { from, to }: Period,
): Promise<Omit<Sum<string>, "key">> {
  const rows = `SELECT '' AS key, 1 AS items, 1 AS sign,
      ${inFigureDecimals("amount", "settlement_decimals")} AS amount
    FROM invoices WHERE organization_id = $1 AND status = 'draft' AND id >= $2 AND id < $3
      AND settlement_currency = $4`;
  const [sum] = await reader.all<{ items: number; total: string }>(
    signedSums(reader.dialect, rows),
    [organizationId, idFloor("invoice", from), idFloor("invoice", to), currency],
  );
  if (sum === undefined) return { items: 0, total: 0n };
  return { items: sum.items, total: decodeAmount(sum.total) };
}

/** Sums the amounts still owed on an organization's partially paid invoices, each rounded as the invoice shows it. */
export async function askedByPartlyPaid(
  reader: Reader,
  organizationId: Id<"organization">,
  currency: string,
): Promise<bigint> {
  const rows = await reader.all<{
    amount: string;
    payable: string;
    seen: string;
    paid: string | null;
    decimals: number;
  }>(
    `SELECT amount, payable_amount AS "payable", seen_amount AS "seen", paid_amount AS "paid",
       settlement_decimals AS "decimals"
     FROM invoices WHERE organization_id = $1 AND status = 'partially_paid' AND settlement_currency = $2`,
    [organizationId, currency],
  );
  return rows.reduce((total, row) => {
    const amount = decodeAmount(row.amount);
    const paid =
      row.paid === null
        ? settlementOf(decodeAmount(row.seen), {
            amount,
            payableAmount: decodeAmount(row.payable),
            // Nothing of a partially paid invoice is rounded.
            dustAmount: null,
          })
        : decodeAmount(row.paid);
    return total + (amount - paid) * powerOfTen(figureDecimals - row.decimals);
  }, 0n);
}

export async function countCustomers(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<number> {
  return count(reader, "customers WHERE organization_id = $1", [organizationId]);
}

export async function countOrganizations(reader: Reader): Promise<number> {
  return count(reader, "organizations", []);
}

export async function countPendingReviews(reader: Reader): Promise<number> {
  return count(reader, "organizations WHERE verification_status = 'pending_review'", []);
}

async function count(reader: Reader, of: string, values: readonly string[]): Promise<number> {
  const [row] = await reader.all<{ items: number }>(
    `SELECT CAST(COUNT(*) AS INTEGER) AS items FROM ${of}`,
    values,
  );
  return row?.items ?? 0;
}

/** Number of items per UTC day; `key` is the start of the day. */
type PerDay = { readonly key: Instant; readonly items: number }[];

const dayOfCreation = `created_at - created_at % ${String(day)}`;

export function organizationsPerDay(reader: Reader, { from, to }: Period): Promise<PerDay> {
  return reader.all(
    `SELECT ${dayOfCreation} AS key, CAST(COUNT(*) AS INTEGER) AS items FROM organizations
     WHERE id >= $1 AND id < $2 GROUP BY ${dayOfCreation}`,
    [idFloor("organization", from), idFloor("organization", to)],
  );
}

/** Counts approvals per day; repeated approvals of an organization count each time. */
export function approvalsPerDay(reader: Reader, { from, to }: Period): Promise<PerDay> {
  return reader.all(
    `SELECT ${dayOfCreation} AS key, CAST(COUNT(*) AS INTEGER) AS items FROM organization_reviews
     WHERE id >= $1 AND id < $2 AND decision = 'approve' GROUP BY ${dayOfCreation}`,
    [idFloor("review", from), idFloor("review", to)],
  );
}

export interface NamedCustomer {
  readonly id: Id<"customer">;
  readonly name: string;
  readonly email: string | null;
}

export function customersById(
  reader: Reader,
  organizationId: Id<"organization">,
  ids: readonly string[],
): Promise<NamedCustomer[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, name, email FROM customers WHERE organization_id = $1 AND id IN (${places(ids, 2)})`,
    [organizationId, ...ids],
  );
}

export interface NamedWallet {
  readonly id: Id<"wallet">;
  readonly label: string;
  readonly network: string;
  readonly address: string;
}

export function walletsById(
  reader: Reader,
  organizationId: Id<"organization">,
  ids: readonly string[],
): Promise<NamedWallet[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, label, network, shown_address AS "address" FROM wallets
     WHERE organization_id = $1 AND id IN (${places(ids, 2)})`,
    [organizationId, ...ids],
  );
}

export interface NamedOrganization {
  readonly id: Id<"organization">;
  readonly name: string;
}

export function organizationsById(
  reader: Reader,
  ids: readonly string[],
): Promise<NamedOrganization[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, display_name AS "name" FROM organizations WHERE id IN (${places(ids, 1)})`,
    ids,
  );
}

function places(values: readonly string[], first: number): string {
  return values.map((_value, index) => `$${String(first + index)}`).join(", ");
}
