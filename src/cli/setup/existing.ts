import { createApp } from "../../compose/app.ts";
import { storeName } from "../../compose/store-place.ts";
import { alreadyInitialized } from "../../features/admin/installation.ts";
import { getOrganizationDetail } from "../../features/admin/organizations.ts";
import { getReceiveWallet } from "../../features/billing/invoices/receive-wallet.ts";
import { platformOrganization } from "../../features/organizations/store.ts";
import type { Config } from "../../platform/config/config.ts";
import { silentLogger } from "../../platform/logger/index.ts";

/** Throws AlreadyInitialized, which says what exists, if the store is initialized. Changes nothing. */
export async function requireNew(config: Config): Promise<void> {
  const found = await describeExisting(config).catch(() => null);
  if (found !== null) throw alreadyInitialized(found);
}

/** Lists what `till init` would create and exists; null if the store is new, incomplete or cannot be used. */
async function describeExisting(config: Config): Promise<string | null> {
  const app = await createApp(config, "use", { logger: silentLogger });
  try {
    const platform = await platformOrganization(app.db);
    if (platform === null) return null;
    const { members, wallets } = await getOrganizationDetail(app, platform.id);
    const owners = members.filter(({ role }) => role === "owner");
    const receiver = await getReceiveWallet(app).catch(() => null);
    const lines = [
      ["Store", storeName(config)],
      ["Settings", config.configFile ?? "no file"],
      ["Organization", `${platform.name} (${platform.id})`],
      ["Admin", owners.map(({ email }) => email).join(", ")],
      ["Wallets", wallets.length === 0 ? "none yet" : String(wallets.length)],
      [
        "Paid at",
        receiver?.wallet == null
          ? "no wallet yet: till billing receive-wallet sets one"
          : `${receiver.wallet.label} on ${receiver.wallet.network}`,
      ],
    ] as const;
    return lines.map(([title, value]) => `  ${title.padEnd(12)}  ${value}`).join("\n");
  } finally {
    await app.close();
  }
}
