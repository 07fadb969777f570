import type { Id } from "../../kernel/id.ts";
import {
  amount,
  flag,
  integer,
  json,
  table,
  text,
  time,
} from "../../platform/database/schema/table.ts";
import type { StoredOption } from "./options/quotes.ts";
import type { StoredAside } from "./settlement/owed.ts";
import type { InvoiceException, InvoiceStatus } from "./rules.ts";

/** A payment link, or the organization for all forms of its own API clients: their invoices are counted together. */
export type EntryOrigin = Id<"paymentLink"> | Id<"organization">;

/**
 * The columns of an invoice that have few distinct values, joined: an index on this expression serves every combination
 * of filters on them. It must match the SQL of the indexes exactly.
 */
export const invoiceFacet =
  "(status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, ''))";

/** Condition of the indexes of invoices with several holds. */
export const hasSeveral = "paid_amount IS NOT NULL";

export const invoices = table(
  "invoices",
  {
    id: text<Id<"invoice">>(),
    organizationId: text<Id<"organization">>(),
    publicId: text(),
    checkoutId: text().nullable(),
    status: text<InvoiceStatus>(),
    exception: text<InvoiceException>(),
    /** Incremented by every change; events contain it. */
    version: integer(),
    amount: amount(),
    settlementCurrency: text(),
    settlementDecimals: integer(),
    // The option in force; with it go the amounts in tokens, the wallet, the address and the rate.
    tokenSymbol: text(),
    tokenDecimals: integer(),
    network: text(),
    requiredConfirmations: integer(),
    /** The amount that the payer must send; null while draft, like all fields that the issue sets. */
    payableAmount: amount().nullable(),
    /** The amount that the payer still has to send, by which a hold identifies the payment. */
    remainingAmount: amount().nullable(),
    /**
     * The most that the payer was asked for in total, if that exceeds `payableAmount`: the rest of a partially paid
     * invoice may carry its own surcharge.
     */
    askedAmount: amount().nullable(),
    exchangeRate: text().nullable(),
    /**
     * The token's dust at the issue, in its smallest unit: a smaller shortfall counts as paid. Null for invoices of
     * earlier versions, of which nothing is rounded.
     */
    dustAmount: amount().nullable(),
    /** In percent. */
    underpaymentTolerance: text(),
    /** For a draft, the requested wallet. */
    walletId: text<Id<"wallet">>().nullable(),
    /** In the network's notation. */
    walletAddress: text().nullable(),
    /** The index of the address below an extended key; null for other wallets. */
    addressIndex: integer().nullable(),
    customerId: text<Id<"customer">>().nullable(),
    externalId: text().nullable(),
    /** Fingerprint of the create request, to recognize its repetition by externalId; null without an externalId. */
    requestFingerprint: text().nullable(),
    description: text().nullable(),
    redirectUrl: text().nullable(),
    expiresInSeconds: integer(),
    /** The feature that alone may change the invoice, and in whose figures it counts; null for a merchant's own. */
    managedBy: text<"billing">().nullable(),
    /** The link at which a payer without a credential entered the amount; null if the merchant stated it. */
    enteredAtLink: text<EntryOrigin>().nullable(),
    /** The payment link at which a payer without a credential started the invoice; null if a merchant made it. */
    startedAtLink: text<Id<"paymentLink">>().nullable(),
    /** The range of client addresses from which it was started at the link, such as `203.0.113.0/24`. */
    startedFrom: text().nullable(),
    metadata: json<Readonly<Record<string, string>>>(),
    /** The payment totals, as the payment ledger last computed them. */
    seenAmount: amount(),
    confirmedAmount: amount(),
    /**
     * The worth of its payments in the settlement currency, if it has several holds; null if that follows from
     * `seenAmount`.
     */
    paidAmount: amount().nullable(),
    isLate: flag(),
    isReverted: flag(),
    latestBlock: integer().nullable(),
    completedAt: time().nullable(),
    /** Transactions of the counted payments, in the network's notation. */
    transactionHashes: json<readonly string[]>(),
    /** Sums of payments that were rejected or are in review, and of refunds, by token; null if there are none. */
    aside: json<readonly StoredAside[]>().nullable(),
    expiresAt: time().nullable(),
    /** The end of its late window: until then its holds identify payments. */
    lateUntil: time().nullable(),
    createdAt: time(),
    updatedAt: time(),
    issuedAt: time().nullable(),
    /**
     * When it counts against its organization's plan: at its issue or, if it was started at a link, when money for it is
     * first seen. Null before that, and for managed invoices.
     */
    countedAt: time().nullable(),
    paidAt: time().nullable(),
    canceledAt: time().nullable(),
    /** The options among which the payer may choose; null if there is only one. */
    paymentOptions: json<readonly StoredOption[]>().nullable(),
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
      // Covering indexes for the sums of analytics over current drafts and partially paid invoices.
      {
        name: "invoices_drafts",
        columns: ["organizationId", "id", "settlementCurrency", "settlementDecimals", "amount"],
        where: "status = 'draft'",
      },
      {
        name: "invoices_partly_paid",
        columns: [
          ...["organizationId", "settlementCurrency", "settlementDecimals"],
          ...["amount", "payableAmount", "seenAmount", "paidAmount"],
        ],
        where: "status = 'partially_paid'",
      },
      {
        name: "invoices_issued",
        columns: ["organizationId", "issuedAt"],
        where: "issued_at IS NOT NULL",
      },
      {
        name: "invoices_counted",
        columns: ["organizationId", "countedAt"],
        where: "counted_at IS NOT NULL",
      },
      {
        name: "invoices_open_at_link",
        columns: ["organizationId", "startedAtLink"],
        where: "started_at_link IS NOT NULL AND status = 'open'",
      },
      {
        name: "invoices_external_id",
        // Unique by the last column; the expression before it serves case-insensitive searches.
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
      // For filters on an option that is not in force.
      { name: "invoices_several", columns: ["organizationId", "id"], where: hasSeveral },
      {
        name: "invoices_several_paid",
        columns: ["organizationId", "paidAt", "id"],
        where: `${hasSeveral} AND paid_at IS NOT NULL`,
      },
      {
        name: "invoices_several_amount",
        columns: ["organizationId", "amount", "id"],
        where: hasSeveral,
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

/** Words of descriptions and entries of metadata, for searches and filters of the list. */
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
 * The reservation that distinguishes the payments of one invoice from those of others: an exclusive address, or an
 * amount that no other live hold on the address has. The unique index enforces this. A hold is live until it is
 * released, whatever the status of its invoice.
 */
export const holds = table(
  "holds",
  {
    id: text<Id<"hold">>(),
    network: text(),
    address: text(),
    /** The token's symbol; `*` for an exclusive address, which accepts any token. */
    token: text(),
    /** In the token's smallest unit; 0 for an exclusive address. */
    amount: amount(),
    /** The price that the amount represents; null for an exclusive address, and for holds of older versions. */
    price: amount().nullable(),
    /**
     * The smallest payment that still pays the amount in full: below `amount` if the invoice tolerates underpayment.
     */
    leastAmount: amount(),
    invoiceId: text<Id<"invoice">>(),
    organizationId: text<Id<"organization">>(),
    kind: text<"exclusive" | "amount">(),
    /** The link at which a payer without a credential entered the price; null if the merchant stated it. */
    enteredAtLink: text<EntryOrigin>().nullable(),
    /** Whether a transfer of exactly this amount waits for the merchant's decision. */
    needsDecision: flag(),
    startsAt: time(),
    endsAt: time(),
    releasedAt: time().nullable(),
    /** The time of its release before its end, in favor of another invoice. */
    recycledAt: time().nullable(),
    /**
     * For an exclusive address of an invoice that a payer started at a link, until a transfer arrives: the identity of its
     * extended key, which may give the address to another invoice once this one is dead. Otherwise null.
     */
    recyclableKey: text().nullable(),
    /**
     * The newest believed block when the invoice's first hold on the network was made, and when it was read: a transfer
     * in it or below was made before the invoice. Null for holds of earlier versions.
     */
    markHeight: integer().nullable(),
    markHash: text().nullable(),
    markReadAt: time().nullable(),
    /** Whether the block was the newest of the chain and read just before: then a transfer above it came afterwards. */
    isMarkRecent: flag(),
    /** For an exclusive address: whether no invoice had it before, so that no payer knew it. */
    isNewAddress: flag(),
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
      {
        name: "holds_recyclable",
        columns: ["network", "recyclableKey", "startsAt", "id"],
        where: "released_at IS NULL AND recyclable_key IS NOT NULL",
      },
      {
        name: "holds_bare",
        columns: ["network", "address", "token", "amount"],
        where: "released_at IS NULL AND amount = price",
      },
      {
        name: "holds_entered",
        columns: ["enteredAtLink", "network", "address", "token", "amount"],
        where: "released_at IS NULL AND entered_at_link IS NOT NULL",
      },
      { name: "holds_invoice", columns: ["invoiceId"] },
      {
        name: "holds_marked",
        columns: ["network", "address", "markHeight"],
        where: "released_at IS NULL AND mark_height IS NOT NULL",
      },
      {
        name: "holds_ending",
        columns: ["network", "endsAt"],
        // The second condition is always true. It keeps the index from statements that do not compare the end: PostgreSQL
        // would choose it for the holds of an address while it has no statistics, and read every hold of the network.
        where: "released_at IS NULL AND ends_at IS NOT NULL",
      },
    ],
  },
);

/**
 * The warnings to organizations about prices of which an address holds at least half of the amounts. A row is deleted
 * once less than half are held, so that the next half brings another warning.
 */
export const halfFullBands = table(
  "half_full_bands",
  {
    network: text(),
    address: text(),
    /** The token's symbol. */
    token: text(),
    /** In the token's smallest unit, like `most`, the largest amount that may represent the price. */
    price: amount(),
    most: amount(),
    /** The number of amounts that may represent the price. */
    places: integer(),
    organizationId: text<Id<"organization">>(),
    warnedAt: time(),
  },
  { primaryKey: ["network", "address", "token", "price"] },
);
