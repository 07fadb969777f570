import { HDKey } from "@scure/bip32";
import { addOrganization as addOrganizationTo } from "../../src/features/organizations/organizations.ts";
import type { Instant } from "../../src/kernel/clock.ts";
import type { Id, IdSource } from "../../src/kernel/id.ts";
import type { ConfiguredNetwork, Networks } from "../../src/platform/config/config.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { appOf, testConfig } from "./context.ts";
import { testContext } from "./store/stores.ts";

const shipped = new Map(testConfig.knownNetworks.map((network) => [network.id, network]));

/** Returns networks of the shipped table as if they were enabled. */
export function testNetworks(...enabled: readonly string[]): Map<string, ConfiguredNetwork> {
  return new Map(
    enabled.map((id) => {
      const network = shipped.get(id);
      if (network === undefined) throw new Error(`there is no network ${id}`);
      return [id, network];
    }),
  );
}

/** Returns networks of the shipped table as an app has them. */
export function enabledNetworks(...ids: readonly string[]): Networks {
  const enabled = testNetworks(...ids);
  return { enabled, known: enabled, enabledIds: ids };
}

/** Creates an organization without members through its feature. */
export function addOrganization(
  db: Database,
  ids: IdSource,
  at: Instant,
): Promise<Id<"organization">> {
  const app = appOf({ db, ids });
  return db.write(testContext, async (tx) => {
    const row = await addOrganizationTo(tx, app, at, { name: "Shop", ownerId: null });
    return row.id;
  });
}

const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));

/** Returns the extended public key of an unused account. */
export function xpubOf(index: number): string {
  return account.derive(`m/44'/60'/${String(index)}'`).publicExtendedKey;
}

/** Two extended public keys, and the private key of the first. */
export const xpubs = {
  first: xpubOf(0),
  second: xpubOf(1),
  privateKey: account.derive("m/44'/60'/0'").privateExtendedKey,
} as const;
