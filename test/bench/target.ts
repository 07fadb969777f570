// A server for load tests in a separate process: Till with a merchant, or a Koa that echoes. It prints one line of JSON
// when it is ready, and ends when its standard input closes.
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { koaBody } from "koa-body";
import { formatAddress } from "../../src/platform/chain/evm/address.ts";
import { approvedMerchant, expectStatus, startApp } from "../support/app.ts";
import { until } from "../support/until.ts";

const [kind, databaseUrl] = process.argv.slice(2);

async function startEcho(): Promise<unknown> {
  const koa = new Koa();
  koa.use(koaBody({ jsonLimit: 262_144, multipart: false, urlencoded: false, text: false }));
  koa.use((ctx) => {
    ctx.body = ctx.method === "GET" ? { ok: true } : ctx.request.body;
  });
  const server = koa.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, path: "/" };
}

async function startTill(): Promise<unknown> {
  const app = await startApp({
    ...(databaseUrl === undefined ? {} : { place: { url: databaseUrl } }),
    settings: { TILL_SANDBOX_BLOCK_MS: "1000" },
    outside: { strictAnswers: false, refusesNesting: false },
  });
  const { key, organizationId } = await approvedMerchant(app);
  const path = `/v1/organizations/${organizationId}`;
  const address = formatAddress("1234567890abcdef1234567890abcdef12345678");
  const wallet = { label: "Till", network: "sandbox", address };
  await expectStatus(app.request("POST", `${path}/wallets`, { key, body: wallet }), 201);
  const body = { amount: "1", settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
  const first = await until(
    "a first invoice",
    () => app.request("POST", `${path}/invoices`, { key, body }),
    ({ status }) => status === 201,
  );
  return { url: app.url, path: `${path}/invoices`, key, checkoutId: first.body["checkoutId"] };
}

const started = kind === "echo" ? await startEcho() : await startTill();
console.log(JSON.stringify(started));
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
