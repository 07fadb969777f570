import type { App, InTx } from "../../../app.ts";
import { Defect, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePage, toPage, toPageBy, type Page, type PageQuery } from "../../../kernel/page.ts";
import { notationOf } from "../../../platform/chain/networks.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import type { Reader } from "../../../platform/database/database.ts";
import {
  customersOf,
  invoiceCandidates,
  invoicesAtOwnAddress,
} from "../../invoices/settlement/candidates.ts";
import { takenOf } from "../ledger/payment-rules.ts";
import { suggest } from "./suggestions.ts";
import { transfers, type ClaimRow, type PaymentRow, type TransferRow } from "../table.ts";
import { dispositionOfTransfer, type ClaimView, type TransferView } from "./records.ts";
import type { MerchantTransferStatus } from "./status.ts";
import {
  decisionsOf,
  findClaims,
  findTransfer,
  findTransfers,
  invoicesOfSenders,
  paymentsByInvoice,
  paymentsByTransfer,
} from "./store.ts";

interface TransferFilters extends PageQuery {
  readonly status?: MerchantTransferStatus | "all" | undefined;
}

interface ClaimFilters extends PageQuery {
  readonly state?: ClaimRow["state"] | undefined;
}

/** A sender that pays for more customers than this counts as an exchange, which does not identify the payer. */
const customersOfSenderMax = 3;

/** Returns a transfer with its decisions, inside a transaction that changed it. */
export async function viewTransfer(
  reader: Reader,
  app: InTx,
  transfer: TransferRow,
): Promise<TransferView> {
  const { id, organizationId } = transfer;
  if (organizationId === null) throw notFound();
  const [found] = await toViews(reader, app, organizationId, [transfer]);
  if (found === undefined) throw new Defect("a transfer has no view");
  return { ...found, decisions: await decisionsOf(reader, id) };
}

/** Returns an organization's transfers, newest first; unmatched ones with suggested invoices. */
export async function listTransfers(
  app: App,
  organizationId: Id<"organization">,
  { status: asked, ...query }: TransferFilters,
): Promise<Page<TransferView>> {
  const { db } = app;
  const status = asked === "all" ? undefined : asked;
  const page = parsePage(query, "transfers", { organizationId, status });
  const rows = await findTransfers(db, organizationId, status, page);
  const views = await toViews(db, app, organizationId, rows);
  return toPageBy(views, page, ({ transfer }) => transfer.id);
}

/** Returns a transfer with its decisions. */
export async function getTransfer(
  app: App,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferView> {
  const { db } = app;
  const transfer = await findTransfer(db, organizationId, transferId);
  if (transfer === null) throw notFound();
  return viewTransfer(db, app, transfer);
}

/** Returns the organization of a transfer, for the operator. */
export async function ownerOfTransfer(
  { db }: App,
  transferId: Id<"transfer">,
): Promise<Id<"organization">> {
  const row = await db.findOne(transfers, "WHERE id = $1", [transferId]);
  if (row?.organizationId == null) throw notFound();
  return row.organizationId;
}

/** Returns the hash claims for an organization's invoices, newest first, for the operator. */
export async function listClaims(
  app: App,
  organizationId: Id<"organization">,
  { state, ...query }: ClaimFilters,
): Promise<Page<ClaimView>> {
  const { db } = app;
  const page = parsePage(query, "claims", { organizationId, state });
  const rows = toPage(await findClaims(db, organizationId, state, page), page);
  const paid = await paymentsByInvoice(
    db,
    rows.data.map(({ invoiceId }) => invoiceId),
  );
  return {
    ...rows,
    data: rows.data.map((claim) => ({
      claim,
      notation: notationOf(app.networks.known, claim.network),
      payments: (paid.get(claim.invoiceId) ?? []).filter(
        ({ transactionHash }) => transactionHash === claim.transactionHash,
      ),
    })),
  };
}

/** Disabled networks are known too: their transfers are still shown. */
async function toViews(
  reader: Reader,
  app: InTx,
  organizationId: Id<"organization">,
  rows: readonly TransferRow[],
): Promise<TransferView[]> {
  const states = await networkStates(reader);
  const payments = await paymentsByTransfer(
    reader,
    rows.map(({ id }) => id),
  );
  const suggested = await suggestions(reader, app, organizationId, rows, payments);
  return rows.map((transfer) => ({
    transfer,
    notation: notationOf(app.networks.known, transfer.network),
    tipHeight: states.get(transfer.network)?.tipHeight ?? transfer.blockHeight,
    payments: payments.get(transfer.id) ?? [],
    decisions: [],
    suggestions: suggested(transfer),
  }));
}

async function suggestions(
  reader: Reader,
  { networks }: InTx,
  organizationId: Id<"organization">,
  rows: readonly TransferRow[],
  payments: ReadonlyMap<Id<"transfer">, readonly PaymentRow[]>,
): Promise<(transfer: TransferRow) => TransferView["suggestions"]> {
  const open = rows.filter((row) => dispositionOfTransfer(row) === "unmatched");
  if (open.length === 0) return () => [];
  const candidates = await invoiceCandidates(
    reader,
    organizationId,
    open.map((row) => ({
      network: row.network,
      address: row.toAddress,
      token: row.token,
      amount: row.amount - takenOf(payments.get(row.id) ?? []),
    })),
  );
  const paid = await invoicesOfSenders(
    reader,
    organizationId,
    open.map(({ fromAddress }) => fromAddress),
  );
  const addressOf = (row: TransferRow) =>
    notationOf(networks.known, row.network).formatAddress(row.toAddress);
  const housed = await invoicesAtOwnAddress(reader, organizationId, open.map(addressOf));
  const assigned = (row: TransferRow) =>
    (payments.get(row.id) ?? []).filter(({ rule }) => rule === "exclusive_address");
  const customers = await customersOf(reader, [
    ...[...paid.values()].flat(),
    ...open.flatMap((row) => assigned(row).map(({ invoiceId }) => invoiceId)),
  ]);
  const ownersOf = (row: TransferRow) => [
    ...housed.filter(({ walletAddress }) => walletAddress === addressOf(row)),
    ...assigned(row).map(({ invoiceId: id }) => ({ id, customerId: customers.get(id) ?? null })),
  ];
  const ids = new Set(open.map(({ id }) => id));
  return (transfer) => {
    if (!ids.has(transfer.id)) return [];
    const invoices = paid.get(transfer.fromAddress) ?? [];
    const known = new Set(invoices.flatMap((id) => customers.get(id) ?? []));
    return suggest({
      transfer,
      notation: notationOf(networks.known, transfer.network),
      payments: payments.get(transfer.id) ?? [],
      candidates,
      customers: known.size > customersOfSenderMax ? new Set() : known,
      owners: ownersOf(transfer),
    });
  };
}
