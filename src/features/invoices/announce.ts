import type { Instant } from "../../kernel/clock.ts";
import { difference, type Auditor } from "../../platform/audit/index.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Outbox } from "../../platform/events/index.ts";
import { presentInvoice, type InvoiceView } from "./present.ts";
import type { InvoiceStatus } from "./rules.ts";

export interface AnnouncerDependencies {
  readonly auditor: Auditor;
  readonly outbox: Outbox;
}

/** Writes a change of an invoice down and tells of it, under one name: one change, one event. */
export function announce(
  { auditor, outbox }: AnnouncerDependencies,
  tx: Tx,
  at: Instant,
  change: {
    readonly type: string;
    /** Null for an invoice that is new. */
    readonly previousStatus: InvoiceStatus | null;
    readonly changes: Readonly<Record<string, unknown>>;
  },
  invoice: InvoiceView,
): void {
  const { type, previousStatus, changes } = change;
  const { id, organizationId, version } = invoice;
  const record = presentInvoice(invoice);
  auditor.record(tx, at, {
    action: type,
    organizationId,
    targetType: "invoice",
    targetId: id,
    changes,
  });
  outbox.emit(tx, at, {
    type,
    organizationId,
    objectType: "invoice",
    objectId: id,
    objectVersion: version,
    data: previousStatus === null ? record : { ...record, previousStatus },
  });
}

/** What an audit entry says of a new invoice. */
export function createdFields(invoice: InvoiceView): Record<string, unknown> {
  const record = presentInvoice(invoice);
  const { status, amount, settlementCurrency, payableAmount, tokenSymbol, network } = record;
  const { walletId, walletAddress, customerId, externalId } = record;
  return {
    ...{ status, amount, settlementCurrency, payableAmount, tokenSymbol, network },
    ...{ walletId, walletAddress, customerId, externalId },
  };
}

/** The fields of the record that a change set, before and after. */
export function changedFields(
  before: InvoiceView,
  after: InvoiceView,
): Record<string, { from: unknown; to: unknown }> {
  const { updatedAt: _, confirmationProgress: __, ...fields } = presentInvoice(after);
  return difference(presentInvoice(before), fields);
}
