import type { Shop } from "./shop.ts";
import type { TillBeside } from "./till-beside.ts";

/** The names of the plug-in's settings that connect a shop with Till. */
export interface Connection {
  readonly url: string;
  readonly api_key: string;
  readonly webhook_secret: string;
}

/** Does in Till what a shop needs, and enters it in the plug-in's settings. */
export async function connect(shop: Shop, till: TillBeside): Promise<Connection> {
  const origins = await till.api<{ allowedOrigins?: readonly string[] }>("GET", "");
  const all = [...new Set([...(origins.allowedOrigins ?? []), shop.url])];
  await till.run("org", "origins", till.organization, "--origins", all.join(","));
  const key = await till.run("key", "create", "--name", "shop", "--scopes", "shop");
  const endpoint = await till.run("webhook", "add", `${shop.url}/?wc-api=till`);
  const connection = {
    url: till.url,
    api_key: String(key["secret"]),
    webhook_secret: String(endpoint["secret"]),
  };
  await shop.control("settings", {
    ...connection,
    enabled: "yes",
    title: "Crypto",
    description: "You pay from your wallet on the next page.",
    token: "USDT",
    network: "sandbox",
    minutes: "60",
  });
  return connection;
}
