import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { difference, type JournalEntry } from "../../../platform/journal.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { EventType } from "../../../platform/events/catalogue.ts";
import { type InvoiceView, presentInvoice } from "../records.ts";
import type { InvoiceStatus } from "../rules.ts";

interface AnnouncedChange {
  /** At least one. */
  readonly types: readonly EventType[];
  /** Null for a new invoice. */
  readonly previousStatus: InvoiceStatus | null;
  readonly changes: Readonly<Record<string, unknown>>;
}

/** Records a change of an invoice in the audit log, under the first of its event types, and emits all of its events. */
export function announceInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  change: AnnouncedChange,
  invoice: InvoiceView,
): void {
  app.journal.record(tx, at, entryOf(change, invoice));
}

/** Records a payer's choice of another option. Choices that follow each other at once are one event. */
export async function announceChoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  { before, after }: { readonly before: InvoiceView; readonly after: InvoiceView },
): Promise<void> {
  const changes = changedFields(before, after);
  const types = ["invoice.option_chosen"] as const;
  await app.journal.recordChoice(
    tx,
    at,
    entryOf({ types, previousStatus: before.status, changes }, after),
  );
}

function entryOf(
  { types, previousStatus, changes }: AnnouncedChange,
  invoice: InvoiceView,
): JournalEntry {
  const { id, organizationId, version } = invoice;
  const record = presentInvoice(invoice);
  return {
    action: types[0] ?? "invoice.updated",
    organizationId,
    subjectType: "invoice",
    subjectId: id,
    changes,
    events: {
      types,
      version,
      data: previousStatus === null ? record : { ...record, previousStatus },
    },
  };
}

/** Returns the fields of a new invoice that its audit entry contains. */
export function createdFields(invoice: InvoiceView): Record<string, unknown> {
  const record = presentInvoice(invoice);
  const { status, amount, settlementCurrency, payableAmount, tokenSymbol, network } = record;
  const { walletId, walletAddress, customerId, externalId } = record;
  return {
    status,
    amount,
    settlementCurrency,
    payableAmount,
    tokenSymbol,
    network,
    walletId,
    walletAddress,
    customerId,
    externalId,
  };
}

/** Returns the record's fields that differ, with their values before and after. */
export function changedFields(
  before: InvoiceView,
  after: InvoiceView,
): Record<string, { from: unknown; to: unknown }> {
  const { updatedAt: _, confirmationProgress: __, ...fields } = presentInvoice(after);
  return difference(presentInvoice(before), fields);
}
