import type { Id } from "../../kernel/id.ts";
import { integer, table, text, time } from "../../platform/database/schema/table.ts";

/**
 * Receiving wallets of organizations, one network each. Public data only: an address, or an extended key from which
 * addresses are derived.
 */
export const wallets = table(
  "wallets",
  {
    id: text<Id<"wallet">>(),
    organizationId: text<Id<"organization">>(),
    label: text(),
    network: text(),
    /** Networks of one family share addresses, and therefore claims. */
    family: text(),
    kind: text<"address" | "xpub">(),
    /** Identifies equal wallets: the canonical address, or a hash of the extended key. */
    identity: text(),
    /** Null for an extended key. */
    address: text().nullable(),
    /** Null for an address. */
    xpub: text().nullable(),
    /** The address in the network's notation, or the key's fingerprint. */
    shownAddress: text(),
    status: text<"active" | "archived">(),
    createdAt: time(),
    archivedAt: time().nullable(),
    /**
     * The turn in which invoices without a walletId try the wallet: 0 for the network's default, from 1 on for its
     * reserves, null for all others. An archived wallet keeps it and receives nothing.
     */
    position: integer().nullable(),
    /** Increased by each change, for the `objectVersion` of events. */
    version: integer(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "wallets_organization", columns: ["organizationId", "id"] },
      {
        name: "wallets_active",
        columns: ["network", "identity"],
        unique: true,
        where: "status = 'active'",
      },
      {
        name: "wallets_receiving",
        columns: ["organizationId", "network", "id"],
        where: "status = 'active'",
      },
      {
        name: "wallets_position",
        columns: ["organizationId", "network", "position"],
        unique: true,
        where: "position IS NOT NULL",
      },
      {
        name: "wallets_read",
        columns: ["network", "identity", "archivedAt"],
        where: "address IS NOT NULL",
      },
    ],
  },
);

/**
 * Whether a derived address may be given to another invoice. `held`: it has an invoice whose late window is not over.
 * `free`: it has none and never received a transfer. `spent`: it received one, or it may have been given to an invoice
 * that a restore has lost; it is never given again.
 */
type DerivedState = "held" | "free" | "spent";

/**
 * Ownership of addresses and extended keys within an address family. An ownership outlives its wallet: a `released` address
 * can be registered again, but no extended key assigns it to an invoice as a fresh address.
 */
export const addressOwnerships = table(
  "wallet_claims",
  {
    family: text(),
    identity: text(),
    organizationId: text<Id<"organization">>(),
    kind: text<"address" | "xpub" | "derived" | "released">(),
    /** Index of an extended key's next address, across the networks of the family. */
    nextIndex: integer(),
    highestPaidIndex: integer().nullable(),
    /** The identity of the extended key from which a derived address comes; null for others and for some older ones. */
    keyIdentity: text().nullable(),
    /** The index of a derived address below its key. */
    keyIndex: integer().nullable(),
    derivedState: text<DerivedState>().nullable(),
  },
  {
    primaryKey: ["family", "identity"],
    indexes: [
      {
        name: "wallet_claims_free",
        columns: ["family", "keyIdentity", "organizationId", "keyIndex"],
        where: "derived_state = 'free'",
      },
    ],
  },
);
