import type { Id } from "../../kernel/id.ts";
import { integer, table, text, time } from "../../platform/database/index.ts";

/** Where an organization is paid on one network. Public: an address, or a key that addresses are derived from. */
export const wallets = table(
  "wallets",
  {
    id: text<Id<"wallet">>(),
    organizationId: text<Id<"organization">>(),
    label: text(),
    network: text(),
    /** Networks of one family share their addresses, and with them their claims. */
    family: text(),
    kind: text<"address" | "xpub">(),
    /** What makes two wallets the same one: the canonical address, or a hash over the extended key. */
    identity: text(),
    /** Null for an extended key. */
    address: text().nullable(),
    /** Null for an address. */
    xpub: text().nullable(),
    /** As people know it: the address in the network's form, or the key's fingerprint. */
    shownAddress: text(),
    status: text<"active" | "archived">(),
    createdAt: time(),
    archivedAt: time().nullable(),
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
    ],
  },
);

/**
 * Whose an address or an extended key is within an address family. A claim outlives its wallet: `released` lets anybody
 * register the address again, but no extended key hands it out to a payer as a fresh one.
 */
export const walletClaims = table(
  "wallet_claims",
  {
    family: text(),
    identity: text(),
    organizationId: text<Id<"organization">>(),
    kind: text<"address" | "xpub" | "derived" | "released">(),
    /** Of an extended key: the index that the next invoice gets, whichever network it is on. */
    nextIndex: integer(),
    highestPaidIndex: integer().nullable(),
  },
  { primaryKey: ["family", "identity"] },
);
