// npm run prove:year: lives through PROVE_DAYS days (400) of a small shop on each database with a clock that is moved:
// invoices, payments, webhooks that arrive or fail for good, logins and invitations.
// Prints the rows of each table on day 200 and at the end. It fails if a table that is not kept for good has more rows at the end than
// at the time when everything that expires has expired for the first time, or if the store is not sound.
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { day, hour, minute, second } from "../../src/kernel/clock.ts";
import { watchWorkerName } from "../../src/features/payments/wake.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import {
  approvedMerchant,
  expectStatus,
  password,
  startApp,
  type Person,
  type TestApp,
} from "../support/app.ts";
import { movingClock } from "../support/clock.ts";
import { xpubs } from "../support/merchants.ts";
import { countRows, tableNamesOf } from "../support/store/dump.ts";
import { expectSoundPlace } from "../support/store/expect-store-is-consistent.ts";
import { startPostgres } from "../support/store/postgres.ts";
import { until } from "../support/until.ts";

const days = Number(process.env["PROVE_DAYS"] ?? "400");
const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",");
/** Dead letters are kept longest, for 180 days from their last attempt. */
const settledDays = 200;
/** Days after that time in which a table that grows is noticed. */
const daysMin = settledDays + 50;
const invoicesPerDay = 10;
const paidPerDay = 5;
/** The receiver refuses what it hears of this invoice of each day, for good. */
const refusedOfDay = 1;
/** The parts of a day between which background work catches up. */
const stepsPerDay = 2;
const patienceMs = 300_000;
/** The days of a table differ a little, and so do the moments of the two counts. */
const toleratedShare = 1.02;
const toleratedRows = 10;

/** The tables whose rows are never deleted, and the reason. Every other table must stop growing. */
const keptForGood: ReadonlyMap<string, string> = new Map([
  ["audit_logs", "the audit log"],
  ["figures", "sums of each day and month for the charts"],
  ["holds", "the addresses and amounts of each invoice"],
  ["invoices", "the merchant's books"],
  ["payments", "the merchant's books"],
  ["sandbox_transfers", "the chain of the sandbox"],
  ["transfers", "the merchant's books"],
  ["wallet_claims", "addresses that no other invoice may have"],
]);
/** Tables with a largest number of rows, which they may reach later: a network keeps at most so many hashes of blocks. */
const rowsMax: ReadonlyMap<string, number> = new Map([["network_blocks", 160]]);

interface Shop {
  readonly app: TestApp;
  readonly merchant: Person & { readonly key: string };
}

/** Starts a receiver on loopback that refuses the events of one invoice per day. */
async function startChoosyReceiver() {
  let taken = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const isRefused = Buffer.concat(chunks).includes(`-${String(refusedOfDay)}"`);
      if (!isRefused) taken += 1;
      response.writeHead(isRefused ? 400 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    taken: () => taken,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function openShop(place: StoreOptions, receiverUrl: string): Promise<Shop> {
  const app = await startApp({
    place,
    clock: movingClock(),
    settings: {
      TILL_SANDBOX_BLOCK_MS: String(10 * minute),
      TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
      TILL_WEBHOOK_RATE_PER_SECOND: "0",
    },
  });
  const merchant = await approvedMerchant(app);
  const path = `/v1/organizations/${merchant.organizationId}`;
  const { key, token } = merchant;
  await expectStatus(
    app.request("POST", `${path}/wallets`, {
      token,
      body: { label: "Till", network: "sandbox", xpub: xpubs.first },
    }),
    201,
  );
  await expectStatus(
    app.request("POST", `${path}/webhook-endpoints`, { key, body: { url: receiverUrl } }),
    201,
  );
  return { app, merchant };
}

/** A day's business in its first hours, and the rest of the day until the next one. */
async function liveDay({ app, merchant }: Shop, number: number): Promise<void> {
  const { token, organization } = await logIn(app, merchant);
  const invoices: string[] = [];
  for (let count = 0; count < invoicesPerDay; count += 1) {
    const order = `${String(number)}-${String(count)}`;
    const made = await app.request("POST", `${organization}/invoices`, {
      key: merchant.key,
      headers: { "Idempotency-Key": order },
      body: {
        externalId: order,
        amount: `${String(10 + count)}.00`,
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "sandbox",
      },
    });
    await expectStatus(Promise.resolve(made), 201);
    invoices.push(String(made.body["id"]));
    if (count < paidPerDay) await act(app, String(made.body["checkoutId"]), "pay");
  }
  await expectStatus(
    app.request("POST", `${organization}/invitations`, {
      token,
      body: { email: `guest${String(number)}@example.com`, role: "viewer" },
    }),
    201,
  );
  for (let step = 0; step < stepsPerDay; step += 1) {
    app.clock.advance(day / stepsPerDay);
    await catchUp(app);
  }
  for (const id of invoices.slice(0, paidPerDay)) {
    await until(
      `the payment of ${id}`,
      () => app.request("GET", `${organization}/invoices/${id}`, { key: merchant.key }),
      ({ body }) => body["status"] === "paid",
      patienceMs,
    );
  }
}

async function logIn(app: TestApp, { email, organizationId }: Person) {
  const { body } = await expectStatus(
    app.request("POST", "/v1/auth/login", { body: { email, password } }),
    200,
  );
  return {
    token: String(body["accessToken"]),
    organization: `/v1/organizations/${organizationId}`,
  };
}

/** Presses a button of the sandbox's panel on a payer's page. */
async function act(app: TestApp, checkoutId: string, action: string): Promise<void> {
  const answer = await fetch(`${app.url}/pay/${checkoutId}/sandbox`, {
    method: "POST",
    body: new URLSearchParams({ action }),
    redirect: "manual",
  });
  if (answer.status !== 303) throw new Error(`the sandbox answered ${String(answer.status)}`);
}

/** Waits until the background work that is due is done. Time goes on meanwhile: an endpoint that failed is paused for minutes. */
async function catchUp({ app, clock }: TestApp): Promise<void> {
  const { db, background } = app;
  const now = clock.now();
  const count = async (sql: string, ...values: readonly number[]) => {
    const [row] = await db.all<{ n: number }>(sql, values);
    return row?.n ?? 0;
  };
  for (const worker of ["cron", "webhooks", watchWorkerName("sandbox")]) background.wake(worker);
  await until(
    `the work of ${new Date(now).toISOString()}`,
    async () => {
      clock.advance(second);
      return {
        hourly: await count(
          'SELECT COUNT(DISTINCT task) AS "n" FROM cron_runs WHERE scheduled_at >= $1',
          now - (now % hour),
        ),
        jobs: await count(`SELECT COUNT(*) AS "n" FROM jobs WHERE state <> 'failed'`),
        events: await count('SELECT COUNT(*) AS "n" FROM events WHERE position IS NULL'),
        deliveries: await count(
          `SELECT COUNT(*) AS "n" FROM webhook_deliveries
         WHERE status IN ('pending', 'in_progress', 'failed') AND due_at <= $1`,
          now,
        ),
      };
    },
    ({ hourly, jobs, events, deliveries }) =>
      hourly > 0 && jobs === 0 && events === 0 && deliveries === 0,
    patienceMs,
  );
}

interface Count {
  readonly day: number;
  /** The number of rows, by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** The size of the store. */
  readonly bytes: number;
}

async function countAll(db: Database, place: StoreOptions, number: number): Promise<Count> {
  const rows = new Map<string, number>();
  for (const name of await tableNamesOf(db)) rows.set(name, await countRows(db, name));
  const [size] =
    "sqliteFile" in place
      ? [{ bytes: (await stat(place.sqliteFile)).size }]
      : await db.all<{ bytes: number }>('SELECT pg_database_size(current_database()) AS "bytes"');
  return { day: number, rows, bytes: size?.bytes ?? 0 };
}

/** Prints the rows of each table at the two times, and notes the tables that grew although they should not. */
function compare(name: string, settled: Count, end: Count): void {
  const ofDay = ({ bytes, day: number }: Count) => (bytes / number / 1_024).toFixed(1);
  console.log(
    `${name}: ${ofDay(settled)} KiB a day until day ${String(settled.day)}, ${ofDay(end)} until day ${String(end.day)}`,
  );
  const unused = [...end.rows].filter(([, rows]) => rows === 0).map(([table]) => table);
  console.log(`  never used: ${unused.join(", ")}`);
  for (const [table, rows] of end.rows) {
    if (rows === 0) continue;
    const before = settled.rows.get(table) ?? 0;
    const reason = keptForGood.get(table);
    const most = rowsMax.get(table) ?? before * toleratedShare + toleratedRows;
    const isTooMany = reason === undefined && rows > most;
    const remark = reason === undefined ? (isTooMany ? "  (grows)" : "") : ", kept: " + reason;
    console.log(`  ${table}: ${String(before)}, ${String(rows)}${remark}`);
    if (isTooMany) process.exitCode = 1;
  }
}

async function live(name: string, place: StoreOptions): Promise<void> {
  const receiver = await startChoosyReceiver();
  const shop = await openShop(place, receiver.url);
  const { db } = shop.app.app;
  const counts: Count[] = [];
  try {
    for (let number = 1; number <= days; number += 1) {
      await liveDay(shop, number);
      if (number === settledDays || number === days) counts.push(await countAll(db, place, number));
    }
    console.log(`${name}: ${String(receiver.taken())} webhooks arrived in ${String(days)} days`);
  } finally {
    await shop.app.stop();
    receiver.stop();
  }
  await expectSoundPlace(place);
  const [settled, end] = counts;
  if (settled === undefined || end === undefined) throw new Error("a count is missing");
  compare(name, settled, end);
}

if (!(days >= daysMin)) throw new Error(`PROVE_DAYS must be at least ${String(daysMin)}.`);
const unknown = stores.filter((store) => store !== "sqlite" && store !== "postgres");
if (unknown.length > 0) throw new Error(`PROVE_STORES: sqlite or postgres, not ${unknown.join()}.`);

const folder = await mkdtemp(join(tmpdir(), "till-prove-"));
try {
  if (stores.includes("sqlite")) await live("sqlite", { sqliteFile: join(folder, "till.db") });
  if (stores.includes("postgres")) {
    const server = await startPostgres();
    try {
      await live("postgres", { url: server.url("postgres") });
    } finally {
      await server.stop();
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
