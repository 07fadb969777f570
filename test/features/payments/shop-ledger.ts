import { matchHolds } from "../../../src/features/invoices/holds/matching.ts";
import {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../../../src/features/invoices/holds/watched-addresses.ts";
import { lateReviewers } from "../../../src/features/organizations/store.ts";
import { makeRefundRequests } from "../../../src/features/refunds/changes.ts";
import type { Network } from "../../../src/platform/chain/networks.ts";
import { createJournal } from "../../../src/platform/journal/index.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import type { Shop } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";

/** Returns the payment ledger of a shop: its invoices with their holds, its refunds and its journal. */
export function ledgerOf(shop: Shop) {
  const { db, ids, networks, settlement } = shop;
  const journal = createJournal({ ids, wake: () => undefined });
  return {
    db,
    ids,
    journal,
    clock: { now: shop.now },
    logger: silentLogger,
    refunds: makeRefundRequests({ journal, networks }),
    invoices: {
      ...settlement,
      matchHolds,
      watchedAddresses,
      watchedAmong,
      watchedSince,
      oldestHold,
      lateReviewers,
    },
  };
}

let added = 0;

/** Adds another network like Ethereum, with USDT alone, to those of a shop. */
export function addNetwork(shop: Shop, changes: Partial<Network> = {}): Network {
  const ethereum = testNetworks("ethereum").get("ethereum");
  if (ethereum === undefined) throw new Error("there is no Ethereum");
  added += 1;
  const id = `ethereum-${String(added)}`;
  const network = { ...ethereum, id, tokens: ethereum.tokens.slice(0, 1), ...changes };
  shop.networks.set(id, network);
  return network;
}
