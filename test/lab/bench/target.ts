// A server of the bench in a separate process: Till as a merchant runs it, or a Koa that echoes. It prints one line of
// JSON when it is ready, and the figures since the last line for each line of its standard input; it ends with it.
import { createWriteStream } from "node:fs";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import Koa from "koa";
import { koaBody } from "koa-body";
import { createApiKey } from "../../../src/features/api-keys/api-keys.ts";
import { formatAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { createLogger } from "../../../src/platform/logger/index.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { approvedMerchant, expectStatus, startApp } from "../../support/app.ts";
import { until } from "../../support/until.ts";
import { startMeter } from "./meter.ts";
import type { Started, TargetOptions } from "./load.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as TargetOptions;

async function startEcho(): Promise<Started> {
  const koa = new Koa();
  koa.use(koaBody({ jsonLimit: 262_144, multipart: false, urlencoded: false, text: false }));
  koa.use((ctx) => {
    ctx.body = ctx.method === "GET" ? { ok: true } : ctx.request.body;
  });
  const server = koa.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, path: "", keys: [] };
}

/**
 * Starts Till with its default settings: rate limits on, log on (to a file that keeps nothing), background work on. The
 * exceptions let it be measured: the sandbox network, no requests for exchange rates, one receiver on this machine.
 */
async function startTill(): Promise<Started> {
  const place = placeOf(options);
  const app = await startApp({
    ...(place === null ? {} : { place }),
    settings: {
      TILL_SANDBOX_BLOCK_MS: "1000",
      TILL_RATE_LIMIT_SCALE: "1",
      TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
    },
    outside: {
      strictResponses: false,
      refusesNesting: false,
      logger: createLogger({ level: "info", destination: createWriteStream("/dev/null") }),
    },
  });
  if (options.merchant !== undefined) return { url: app.url, ...options.merchant };
  const { key, organizationId } = await approvedMerchant(app);
  const path = `/v1/organizations/${organizationId}`;
  const address = formatAddress("1234567890abcdef1234567890abcdef12345678");
  const wallet = { label: "Till", network: "sandbox", address };
  await expectStatus(app.request("POST", `${path}/wallets`, { key, body: wallet }), 201);
  const endpoint = { url: options.receiver };
  await expectStatus(
    app.request("POST", `${path}/webhook-endpoints`, { key, body: endpoint }),
    201,
  );
  const body = { amount: "1", settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
  await until(
    "a first invoice",
    () => app.request("POST", `${path}/invoices`, { key, body }),
    ({ status }) => status === 201,
  );
  const actor = { type: "operator", id: null, label: "bench" } as const;
  const made = Array.from({ length: options.keys ?? 1 }, (_, place) =>
    createApiKey(app.app, { actor, requestId: null, ip: null }, organizationId as `org_${string}`, {
      name: `shop ${String(place)}`,
      scopes: ["read", "write"],
    }),
  );
  const keys = (await Promise.all(made)).map(({ secret }) => secret);
  return { url: app.url, path, keys };
}

function placeOf({ databaseUrl, sqliteFile }: TargetOptions): StoreOptions | null {
  if (databaseUrl !== undefined) return { url: databaseUrl };
  return sqliteFile === undefined ? null : { sqliteFile };
}

const meter = startMeter();
console.log(JSON.stringify(options.kind === "echo" ? await startEcho() : await startTill()));
createInterface({ input: process.stdin })
  .on("line", () => {
    console.log(JSON.stringify(meter()));
  })
  .on("close", () => process.exit(0));
