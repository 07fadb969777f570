import type { Network } from "../../../src/platform/chain/networks.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import type { Shop } from "../../support/invoice-services-fixture.ts";
import { testNetworks } from "../../support/merchants.ts";

/** Returns the app of a shop, and its parts as the readers of a network take them. */
export function ledgerOf({ app, db, now }: Shop) {
  const { journal } = app;
  return { app, db, journal, clock: { now }, logger: silentLogger };
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
