import type { Id } from "../../kernel/id.ts";
import { amount, flag, integer, json, table, text, time } from "../../platform/database/index.ts";
import type { InvoiceException, InvoiceStatus } from "./rules.ts";

/**
 * The columns of an invoice that have few values, joined: an index on this serves every combination of filters on them.
 * In SQL, exactly as the indexes have it.
 */
export const invoiceFacet =
  "(status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, ''))";

export const invoices = table(
  "invoices",
  {
    id: text<Id<"invoice">>(),
    organizationId: text<Id<"organization">>(),
    publicId: text(),
    checkoutId: text().nullable(),
    status: text<InvoiceStatus>(),
    exception: text<InvoiceException>(),
    /** Counts every change; events carry it. */
    version: integer(),
    amount: amount(),
    settlementCurrency: text(),
    settlementDecimals: integer(),
    tokenSymbol: text(),
    tokenDecimals: integer(),
    network: text(),
    requiredConfirmations: integer(),
    /** What the payer sends; null while draft, like everything that the issue decides. */
    payableAmount: amount().nullable(),
    /** What the payer still has to send, as a hold tells it apart. */
    remainingAmount: amount().nullable(),
    /**
     * The most that the payer was asked for in total, where that is more than `payableAmount`: the rest of a partly paid
     * invoice may carry a surcharge of its own.
     */
    askedAmount: amount().nullable(),
    exchangeRate: text().nullable(),
    /** In percent. */
    underpaymentTolerance: text(),
    /** Of a draft: the one that was asked for. */
    walletId: text<Id<"wallet">>().nullable(),
    /** In the network's form. */
    walletAddress: text().nullable(),
    /** Of an extended key: which of its addresses. */
    addressIndex: integer().nullable(),
    customerId: text<Id<"customer">>().nullable(),
    externalId: text().nullable(),
    /** Over the create request, to know it again by its externalId; null where it had none. */
    requestFingerprint: text().nullable(),
    description: text().nullable(),
    redirectUrl: text().nullable(),
    expiresInSeconds: integer(),
    /** Whose invoice it is to change, and whose figures it is in; null for a merchant's own. */
    managedBy: text<"billing">().nullable(),
    metadata: json<Readonly<Record<string, string>>>(),
    /** The totals of the payments' ledger, as it last told them. */
    seenAmount: amount(),
    confirmedAmount: amount(),
    isLate: flag(),
    isReverted: flag(),
    latestBlock: integer().nullable(),
    completedAt: time().nullable(),
    /** Of the counted payments, in the network's form. */
    transactionHashes: json<readonly string[]>(),
    expiresAt: time().nullable(),
    createdAt: time(),
    updatedAt: time(),
    issuedAt: time().nullable(),
    paidAt: time().nullable(),
    canceledAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "invoices_organization", columns: ["organizationId", "id"] },
      { name: "invoices_facet", columns: ["organizationId", invoiceFacet, "id"] },
      {
        name: "invoices_customer",
        columns: ["organizationId", "customerId", invoiceFacet, "id"],
        where: "customer_id IS NOT NULL",
      },
      {
        name: "invoices_paid",
        columns: ["organizationId", invoiceFacet, "paidAt", "id"],
        where: "paid_at IS NOT NULL",
      },
      { name: "invoices_amount", columns: ["organizationId", invoiceFacet, "amount", "id"] },
      {
        name: "invoices_own_address",
        columns: ["organizationId", "walletAddress"],
        where: "address_index IS NOT NULL",
      },
      // What analytics add up of these as they stand, without a look at the invoices themselves.
      {
        name: "invoices_drafts",
        columns: ["organizationId", "id", "settlementCurrency", "settlementDecimals", "amount"],
        where: "status = 'draft'",
      },
      {
        name: "invoices_partly_paid",
        columns: [
          ...["organizationId", "settlementCurrency", "settlementDecimals"],
          ...["amount", "payableAmount", "seenAmount"],
        ],
        where: "status = 'partially_paid'",
      },
      {
        name: "invoices_issued",
        columns: ["organizationId", "issuedAt"],
        where: "issued_at IS NOT NULL",
      },
      {
        name: "invoices_external_id",
        // Unique by the last column, found in any case by the one before it.
        columns: ["organizationId", "lower(external_id)", "externalId"],
        unique: true,
        where: "external_id IS NOT NULL",
      },
      {
        name: "invoices_checkout_id",
        columns: ["checkoutId"],
        unique: true,
        where: "checkout_id IS NOT NULL",
      },
      { name: "invoices_public_id", columns: ["publicId"], unique: true },
      {
        name: "invoices_deadline",
        columns: ["network", "expiresAt"],
        where: "status IN ('open', 'partially_paid')",
      },
      {
        name: "invoices_expired",
        columns: ["network", "expiresAt"],
        where: "status = 'expired'",
      },
    ],
  },
);

/** The words of descriptions and the entries of metadata, by which a list finds invoices. */
export const invoiceTerms = table(
  "invoice_terms",
  {
    organizationId: text<Id<"organization">>(),
    term: text(),
    invoiceId: text<Id<"invoice">>(),
  },
  { primaryKey: ["organizationId", "term", "invoiceId"] },
);

/**
 * What tells one invoice's payments from another's: an address of its own, or an amount that no other live hold on the
 * address has. The unique index is the rule; a hold is live until it is released, whatever became of its invoice.
 */
export const holds = table(
  "holds",
  {
    id: text<Id<"hold">>(),
    network: text(),
    address: text(),
    /** A symbol; `*` for an address of its own, which takes any token. */
    token: text(),
    /** In the token's smallest unit; 0 for an address of its own. */
    amount: amount(),
    /** The price that the amount stands for; null for an address of its own, and for holds of older versions. */
    price: amount().nullable(),
    /** From which on less than the amount is whole too: below it where the invoice tolerates underpayment. */
    leastAmount: amount(),
    invoiceId: text<Id<"invoice">>(),
    organizationId: text<Id<"organization">>(),
    kind: text<"exclusive" | "amount">(),
    startsAt: time(),
    endsAt: time(),
    releasedAt: time().nullable(),
    /** When it was released before its end, so that its amount could be given to another invoice. */
    recycledAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "holds_live",
        columns: ["network", "address", "token", "amount"],
        unique: true,
        where: "released_at IS NULL",
      },
      {
        name: "holds_tolerant",
        columns: ["network", "address", "token", "amount"],
        where: "released_at IS NULL AND least_amount < amount",
      },
      {
        name: "holds_recycled",
        columns: ["network", "address", "token", "amount"],
        where: "recycled_at IS NOT NULL",
      },
      { name: "holds_invoice", columns: ["invoiceId"] },
      { name: "holds_ending", columns: ["network", "endsAt"], where: "released_at IS NULL" },
    ],
  },
);

/**
 * The warnings to organizations about prices of which an address holds half of the amounts or more. A row is deleted when
 * less than half is held, so that the next half brings another warning.
 */
export const halfFullBands = table(
  "half_full_bands",
  {
    network: text(),
    address: text(),
    /** A symbol. */
    token: text(),
    /** In the token's smallest unit, as is the largest amount that may stand for it. */
    price: amount(),
    most: amount(),
    /** How many amounts may stand for it. */
    places: integer(),
    organizationId: text<Id<"organization">>(),
    warnedAt: time(),
  },
  { primaryKey: ["network", "address", "token", "price"] },
);
