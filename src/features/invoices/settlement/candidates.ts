import type { Id } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import { findAlong, type Walk } from "../../../platform/database/query/facets.ts";
import { decodeAmount } from "../../../platform/database/schema/table.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { firstOfEach } from "../../../platform/database/query/first-of-each.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import { alongFacets, facetConditions } from "../../../platform/database/query/lists.ts";
import type { InvoiceRow } from "../store.ts";
import type { InvoiceStatus } from "../rules.ts";
import { holds, invoiceFacet, invoices } from "../table.ts";

/** A transfer for which an invoice is sought. */
interface SoughtMoney {
  readonly network: string;
  readonly address: Address;
  /** The token's symbol. */
  readonly token: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** The number of newest invoices of each status that are considered for an organization. */
const newestMax = 100;
/** The number of holds that are considered above and below an amount, which may include those of paid invoices. */
const nearestMax = 20;

const unpaid = ["open", "partially_paid", "expired"] as const;
const shown = [...unpaid, "confirming", "paid", "canceled"] as const;

/** An invoice that a transfer may be for. */
export interface InvoiceCandidate {
  readonly invoice: InvoiceRow;
  /** The amounts of its live holds near a sought amount, in the token's smallest unit. */
  readonly heldAmounts: readonly bigint[];
  /** Its marks on the networks of its live holds (docs/decisions/0066). */
  readonly marks: readonly NetworkMark[];
}

/** The newest block of a network when an invoice's first hold there was made. */
interface NetworkMark {
  readonly network: string;
  readonly height: number;
  /** Whether a transfer above it certainly came afterwards. */
  readonly isRecent: boolean;
}

/**
 * Returns the invoices of an organization that a transfer may be for although no rule matches it: those whose holds at
 * the same address are nearest to the amount, and the newest unpaid ones. Paid and canceled invoices are included only
 * if they hold exactly a sought amount, or held it until it was recycled. The number of statements does not depend on
 * the number of transfers.
 */
export async function invoiceCandidates(
  reader: Reader,
  organizationId: Id<"organization">,
  sought: readonly SoughtMoney[],
): Promise<InvoiceCandidate[]> {
  const near = await Promise.all([
    nearestHeld(reader, sought, "<=", "DESC"),
    nearestHeld(reader, sought, ">", "ASC"),
    recycledHeld(reader, sought),
  ]);
  const newest = await Promise.all(
    unpaid.map((status) => newestOf(reader, organizationId, status)),
  );
  const held = new Map<Id<"invoice">, bigint[]>();
  for (const { invoiceId, amount } of near.flat()) {
    held.set(invoiceId, [...(held.get(invoiceId) ?? []), decodeAmount(amount)]);
  }
  const rows = await reader.find(
    invoices,
    `WHERE id IN ${listed(reader.dialect, 2)}
       AND organization_id = $1 AND managed_by IS NULL
       AND status IN (${shown.map((status) => `'${status}'`).join(", ")})`,
    [organizationId, JSON.stringify([...new Set([...held.keys(), ...newest.flat()])])],
  );
  const amounts = new Set(sought.map(({ amount }) => amount));
  const marks = await marksOfInvoices(
    reader,
    rows.map(({ id }) => id),
  );
  return rows
    .map((invoice) => ({
      invoice,
      heldAmounts: held.get(invoice.id) ?? [],
      marks: marks.get(invoice.id) ?? [],
    }))
    .filter(
      ({ invoice, heldAmounts }) =>
        isAsking(invoice) || heldAmounts.some((amount) => amounts.has(amount)),
    );
}

async function marksOfInvoices(
  reader: Reader,
  invoiceIds: readonly Id<"invoice">[],
): Promise<ReadonlyMap<Id<"invoice">, readonly NetworkMark[]>> {
  const rows = await reader.all<{
    invoiceId: Id<"invoice">;
    network: string;
    height: number;
    isRecent: number;
  }>(
    `SELECT invoice_id AS "invoiceId", network, min(mark_height) AS height, max(is_mark_recent) AS "isRecent"
     FROM holds WHERE invoice_id IN ${listed(reader.dialect, 1)} AND mark_height IS NOT NULL
     GROUP BY invoice_id, network`,
    [JSON.stringify(invoiceIds)],
  );
  const marks = new Map<Id<"invoice">, NetworkMark[]>();
  for (const { invoiceId, network, height, isRecent } of rows) {
    const mark = { network, height, isRecent: isRecent === 1 };
    marks.set(invoiceId, [...(marks.get(invoiceId) ?? []), mark]);
  }
  return marks;
}

/** True if nothing is missing, even if not all payments are confirmed. */
export function isWhole({ status }: Pick<InvoiceRow, "status">): boolean {
  return status === "confirming" || status === "paid";
}

function isAsking({ status }: InvoiceRow): boolean {
  return unpaid.some((each) => each === status);
}

/**
 * Returns the newest invoices of a status: if they have more combinations of network, token, currency and wallet than a
 * walk merges, those among the newest of all.
 */
async function newestOf(
  reader: Reader,
  organizationId: Id<"organization">,
  status: InvoiceStatus,
): Promise<Id<"invoice">[]> {
  const walk: Walk = {
    table: "invoices",
    facet: null,
    order: ["id"],
    direction: "DESC",
    scope: [["organization_id", organizationId]],
  };
  const faceted = { ...walk, facet: invoiceFacet };
  const span = { facets: null, after: null, bounds: [], conditions: [], fetch: newestMax };
  const filter = [["status", [status]]] as const;
  const along = await alongFacets(reader, faceted, span, filter);
  const { keys } =
    along === null
      ? await findAlong(reader, walk, { ...span, conditions: facetConditions(filter) })
      : await findAlong(reader, faceted, along);
  return keys.map(([id]) => id as Id<"invoice">);
}

interface HeldAmount {
  readonly invoiceId: Id<"invoice">;
  /** In the store's encoding. */
  readonly amount: string;
}

const { network, address, token, amount } = holds.columns;
const probes = givenRows("probe", { network, address, token, amount });
/** SQL condition: the hold is at the address and for the token of the probe. */
const isAtProbe = (hold: string) =>
  `${hold}.network = probe.network AND ${hold}.address = probe.address AND ${hold}.token = probe.token`;

/** Returns the live holds whose amounts are nearest to each sought one, on one side of it. */
async function nearestHeld(
  reader: Reader,
  sought: readonly SoughtMoney[],
  comparison: "<=" | ">",
  direction: "ASC" | "DESC",
): Promise<readonly HeldAmount[]> {
  const nearest = firstOfEach(reader.dialect, "near", {
    given: probes.from(reader.dialect, 1),
    table: "holds",
    columns: ["invoice_id", "amount"],
    where: `${isAtProbe("one")} AND one.amount ${comparison} probe.amount AND one.released_at IS NULL`,
    order: ["amount"],
    direction,
    limit: nearestMax,
  });
  return reader.all(
    `SELECT DISTINCT near.invoice_id AS "invoiceId", near.amount AS amount FROM ${nearest}`,
    [probes.values(sought)],
  );
}

/** Returns the invoices that held exactly a sought amount until it was recycled. */
async function recycledHeld(
  reader: Reader,
  sought: readonly SoughtMoney[],
): Promise<readonly HeldAmount[]> {
  return reader.all(
    `SELECT DISTINCT holds.invoice_id AS "invoiceId", holds.amount AS amount
     FROM ${probes.from(reader.dialect, 1)} CROSS JOIN holds
     WHERE ${isAtProbe("holds")} AND holds.amount = probe.amount AND holds.recycled_at IS NOT NULL`,
    [probes.values(sought)],
  );
}

/** The number of invoices with one of the sought addresses that are returned: an address may have had several. */
const ownersMax = 500;

/**
 * Returns the organization's invoices that have or had one of these addresses for themselves, in their option in force,
 * newest first.
 */
export function invoicesAtOwnAddress(
  reader: Reader,
  organizationId: Id<"organization">,
  walletAddresses: readonly string[],
): Promise<InvoiceRow[]> {
  return reader.find(
    invoices,
    `WHERE organization_id = $1 AND address_index IS NOT NULL
       AND wallet_address IN ${listed(reader.dialect, 2)}
     ORDER BY id DESC LIMIT ${String(ownersMax)}`,
    [organizationId, JSON.stringify([...new Set(walletAddresses)])],
  );
}

/** Returns the customers of invoices; invoices without one are left out. */
export async function customersOf(
  reader: Reader,
  invoiceIds: readonly Id<"invoice">[],
): Promise<ReadonlyMap<Id<"invoice">, Id<"customer">>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await reader.all<{ id: Id<"invoice">; customerId: Id<"customer"> }>(
    `SELECT id, customer_id AS "customerId" FROM invoices
     WHERE id IN ${listed(reader.dialect, 1)} AND customer_id IS NOT NULL`,
    [JSON.stringify([...new Set(invoiceIds)])],
  );
  return new Map(rows.map(({ id, customerId }) => [id, customerId]));
}
