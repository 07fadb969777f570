import { existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  expectStatus,
  keyOf,
  platformKey,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { day, toIso } from "../../../src/kernel/clock.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import {
  addUpSeeded,
  auditActors,
  frequentCustomer,
  frequentSender,
  seed,
  settleDown,
  type Seed,
} from "./seed.ts";

/** A request that is repeated, and the time limit for the slowest of a hundred responses. */
export interface Question {
  readonly name: string;
  readonly path: string;
  readonly key: { readonly key: string };
  readonly targetMs: number | null;
}

export interface Library {
  readonly app: TestApp;
  readonly merchant: Person;
  /** An API key with the scope `platform`. */
  readonly platform: string;
  readonly questions: readonly Question[];
  /** The number of changes per second that were added to the figures. */
  readonly summedPerSecond: number;
}

/** The target for a page in milliseconds, with a million invoices. */
export const pageTarget = 25;
const figuresTarget = 200;
const deepRows = 10_000;

/** A filled store, described so that a later run can reopen it. */
interface Filled {
  readonly merchant: Person;
  /** API keys with the scopes `read` and `platform`: a session would expire before a million rows are inserted. */
  readonly key: string;
  readonly platform: string;
  readonly given: Seed;
  readonly summedPerSecond: number;
}

/**
 * Starts the whole program with the given number of invoices of one merchant, and returns the requests to measure. With
 * the path of a notes file, the store is filled once, and a later run with the same file uses the existing rows.
 */
export async function openLibrary(
  place: StoreOptions,
  invoices: number,
  notesFile?: string,
): Promise<Library> {
  const clock = movingClock();
  const app = await startApp({
    place,
    background: false,
    clock,
    outside: { strictResponses: false },
    settings: { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" },
  });
  const isFilled = notesFile !== undefined && existsSync(notesFile);
  const filled = isFilled
    ? (JSON.parse(readFileSync(notesFile, "utf8")) as Filled)
    : await fillStore(app, place, invoices);
  if (notesFile !== undefined && !isFilled) writeFileSync(notesFile, JSON.stringify(filled));
  const { merchant, key, platform, given, summedPerSecond } = filled;
  const home = `/v1/organizations/${merchant.organizationId}`;
  const questions = await questionsOf(app, home, key, platform, given);
  return { app, merchant, platform, summedPerSecond, questions };
}

async function fillStore(app: TestApp, place: StoreOptions, invoices: number): Promise<Filled> {
  const prepared = await prepare(app, invoices);
  await seed(app.app.db, prepared.given);
  const summedPerSecond = await addUpSeeded(app.app.db);
  await settleDown(place);
  return { ...prepared, summedPerSecond };
}

/** Creates the objects to which seeded rows refer: the merchant with a wallet and two endpoints. */
export async function prepare(
  app: TestApp,
  invoices: number,
): Promise<Omit<Filled, "summedPerSecond">> {
  const platform = await platformKey(app);
  const merchant = await register(app);
  const key = await keyOf(app, merchant, "read");
  const path = `/v1/organizations/${merchant.organizationId}`;
  const address = `0x${"1".repeat(40)}`;
  const wallet = await expectStatus(
    app.request("POST", `${path}/wallets`, {
      token: merchant.token,
      body: { label: "Till", network: "sandbox", address },
    }),
    201,
  );
  const endpoints: string[] = [];
  for (const port of [9, 10]) {
    const body = { url: `http://127.0.0.1:${String(port)}/` };
    const answer = await expectStatus(
      app.request("POST", `${path}/webhook-endpoints`, { token: merchant.token, body }),
      201,
    );
    endpoints.push(answer.body["id"] as string);
  }
  const to = app.clock.now();
  const given: Seed = {
    endpointIds: [endpoints[0] ?? "", endpoints[1] ?? ""],
    organizationId: merchant.organizationId,
    walletId: wallet.body["id"] as string,
    invoices,
    customers: Math.ceil(invoices / 10),
    from: to - 29 * day,
    to,
  };
  return { merchant, key, platform, given };
}

/** Filters that match many invoices, few, and many in combination with few: pages must be fast with all of them. */
const searches: readonly (readonly [name: string, query: string])[] = [
  ["invoices by several statuses", "status=open,partially_paid,draft"],
  ["invoices, oldest first", "sort=createdAt"],
  ["invoices of a rare network", "network=tron"],
  ["invoices of a rare network by a common status", "network=tron&status=paid"],
  ["invoices of a rare network by a rare token", "network=tron&tokenSymbol=USDC"],
  ["invoices of a rare currency, smallest first", "settlementCurrency=EUR&sort=amount"],
  ["invoices by amount", "settlementCurrency=USD&sort=-amount"],
  ["invoices by amount and a rare status", "settlementCurrency=USD&sort=-amount&status=draft"],
  ["invoices by time of payment", "sort=-paidAt"],
  [
    "invoices of a frequent customer by time of payment",
    `sort=paidAt&customerId=${frequentCustomer}`,
  ],
  [
    "invoices of a frequent customer on a rare network",
    `network=tron&customerId=${frequentCustomer}`,
  ],
  ["invoices by common metadata", "metadataKey=channel&metadataValue=web"],
  ["invoices by rare metadata", "metadataKey=channel&metadataValue=fax"],
  ["invoices by metadata that none has", "metadataKey=channel&metadataValue=none"],
  [
    "invoices by common metadata and a status that none of them has",
    "metadataKey=channel&metadataValue=web&status=partially_paid",
  ],
  ["invoices by a word of all", "search=order"],
  ["invoices by a rare word", "search=gift"],
  ["invoices by a word that none has", "search=zzz"],
  ["invoices by a word and a number", "search=order%204711"],
  ["invoices by the beginning of a number", "search=4"],
  ["invoices by a word of all and another that none has", "search=order%20zzz"],
  ["invoices by customers of one name", "search=customer"],
  ["invoices by an e-mail address", "search=customer77@example.com"],
  ["invoices by a word of all and a rare status", "search=order&status=partially_paid"],
  ["invoices by a common word and a rare network", "search=order&network=tron"],
  ["invoices by a rare word, by amount", "search=gift&settlementCurrency=USD&sort=-amount"],
  // Of invoices with several holds, by options that are not in force.
  ["invoices of a network held beside another", "network=bsc"],
  ["invoices of a rare token held beside another", "tokenSymbol=EURC"],
  ["invoices of a held network and a token of the other option", "network=bsc&tokenSymbol=USDT"],
  ["invoices of a held network by a rare status", "network=bsc&status=partially_paid"],
  ["invoices of a held network by time of payment", "network=bsc&sort=-paidAt"],
  ["invoices of a held network by amount", "network=bsc&settlementCurrency=USD&sort=-amount"],
  [
    "invoices of a rare held token by amount and status",
    "tokenSymbol=EURC&settlementCurrency=USD&sort=amount&status=canceled",
  ],
  [
    "invoices of a held network of a frequent customer",
    `network=bsc&customerId=${frequentCustomer}`,
  ],
  ["invoices of a held network by a rare word", "search=gift&network=bsc"],
  ["invoices of a held network by a word of all", "search=order&network=bsc"],
  ["invoices of a held network by metadata", "network=bsc&metadataKey=channel&metadataValue=fax"],
  ["invoices of a held address", `walletAddress=0x${"3".repeat(40)}`],
];

async function questionsOf(
  app: TestApp,
  home: string,
  key: string,
  platform: string,
  { from, to, endpointIds, walletId }: Seed,
): Promise<Question[]> {
  const merchant = { key };
  const list = `${home}/invoices?limit=20`;
  const deepIn = (path: string, rows: DeepRows) => deepCursor(app, `${home}/${path}`, key, rows);
  const deep = await deepIn("invoices", { table: "invoices" });
  const deepPaid = await deepIn("invoices?status=paid", {
    table: "invoices",
    where: "status = 'paid'",
  });
  const deepHeld = await deepIn("invoices?network=bsc", {
    table: "invoices",
    where: "paid_amount IS NOT NULL",
  });
  const deepPayment = await deepIn("payments", { table: "payments" });
  const events = await expectStatus(app.request("GET", `${home}/events`, { key }), 200);
  const deepEvent = events.body["nextCursor"] as string;
  const some = await firstOf(app, `${home}/invoices?limit=100&status=paid`, key);
  const middle = (from + to) / 2;
  const time = `createdFrom=${toIso(Math.floor(middle - day))}&createdTo=${toIso(Math.floor(middle))}`;
  const byAmount = `${list}&settlementCurrency=USD&sort=-amount`;
  const deepAmount = await deepIn("invoices?settlementCurrency=USD&sort=-amount", {
    table: "invoices",
    where: "settlement_currency = 'USD'",
    by: "amount",
  });
  const deepPaidAt = await deepIn("invoices?sort=-paidAt", {
    table: "invoices",
    where: "paid_at IS NOT NULL",
    by: "paid_at",
  });
  const payments = await expectStatus(app.request("GET", `${home}/payments`, { key }), 200);
  const hash = (payments.body["data"] as { transactionHash: string }[])[0]?.transactionHash ?? "";
  const page = (name: string, path: string): Question => ({
    name,
    path,
    key: merchant,
    targetMs: pageTarget,
  });
  const figures = (
    name: string,
    path: string,
    targetMs: number | null = figuresTarget,
  ): Question => ({
    name,
    path,
    key: merchant,
    targetMs,
  });
  const admin = (name: string, what: string): Question => ({
    name,
    path: `/v1/admin/analytics/${what}`,
    key: { key: platform },
    targetMs: figuresTarget,
  });
  const watch = (name: string, what: string, targetMs = pageTarget): Question => ({
    name,
    path: `/v1/admin/${what}`,
    key: { key: platform },
    targetMs,
  });
  const deepDelivery = await deepIn("webhook-deliveries", { table: "webhook_deliveries" });
  const deepEntry = await deepIn("audit-logs", { table: "audit_logs" });
  const [taking, dead] = endpointIds;
  const { issuing, canceling } = auditActors;
  const canceled = "action=invoice.canceled";
  const auditTime = time;
  const long = `from=${toIso(to - 395 * day)}&to=${toIso(to)}`;
  return [
    page("invoices, first page", list),
    page("invoices, 10,000 deep", `${list}&cursor=${deep}`),
    page("invoices by status", `${list}&status=paid`),
    page("invoices by status, 10,000 deep", `${list}&status=paid&cursor=${deepPaid}`),
    page("invoices by a rare status", `${list}&status=partially_paid`),
    page("invoices of a customer", `${list}&customerId=${some.customerId}`),
    page("invoices of a customer by status", `${list}&customerId=${some.customerId}&status=open`),
    page(
      "invoices of a frequent customer by a status that none has",
      `${list}&customerId=${frequentCustomer}&status=draft`,
    ),
    page("invoices of a time", `${list}&${time}`),
    page("invoices of a time by status", `${list}&${time}&status=expired`),
    page(
      "an invoice by its externalId",
      `${list}&externalId=${encodeURIComponent(some.externalId)}`,
    ),
    ...searches.map(([name, query]) => page(name, `${list}&${query}`)),
    page("invoices by amount, 10,000 deep", `${byAmount}&cursor=${deepAmount}`),
    page("invoices by time of payment, 10,000 deep", `${list}&sort=-paidAt&cursor=${deepPaidAt}`),
    page("invoices of a frequent customer by amount", `${byAmount}&customerId=${frequentCustomer}`),
    page("invoices of a time by amount", `${byAmount}&${time}`),
    page("invoices paid within a time", `${list}&${time.replaceAll("created", "paid")}`),
    page(
      "invoices paid within a time, by amount",
      `${byAmount}&${time.replaceAll("created", "paid")}`,
    ),
    page("invoices of a held network of a time", `${list}&network=bsc&${time}`),
    page("invoices of a held network, 10,000 deep", `${list}&network=bsc&cursor=${deepHeld}`),
    page("invoices of a wallet", `${list}&walletId=${walletId}`),
    page("invoices of an address", `${list}&walletAddress=0x${"1".repeat(40)}`),
    page("invoices of a transaction", `${list}&transactionHash=${hash}`),
    page("payments of a transaction", `${home}/payments?transactionHash=${hash}`),
    page("payments of a sender", `${home}/payments?fromAddress=0x${"0".repeat(39)}1`),
    page("payments of a rare network", `${home}/payments?network=tron`),
    page("payments of a rare network by token", `${home}/payments?network=tron&tokenSymbol=USDC`),
    page("payments by amount", `${home}/payments?network=sandbox&tokenSymbol=USDT&sort=-amount`),
    page(
      "payments by amount and status",
      `${home}/payments?network=sandbox&tokenSymbol=USDT&sort=amount&status=confirmed`,
    ),
    page("payments by time of payment", `${home}/payments?sort=-blockTime`),
    page(
      "payments by time of payment on a rare network",
      `${home}/payments?sort=blockTime&network=tron`,
    ),
    page("payments paid within a time", `${home}/payments?${time.replaceAll("created", "paid")}`),
    page(
      "payments of a frequent sender by amount",
      `${home}/payments?network=sandbox&tokenSymbol=USDT&sort=-amount&fromAddress=0x${frequentSender}`,
    ),
    page("payments of a time, oldest first", `${home}/payments?sort=createdAt&${time}`),
    page("payments, first page", `${home}/payments?limit=20`),
    page("payments, 10,000 deep", `${home}/payments?limit=20&cursor=${deepPayment}`),
    page("payments by status", `${home}/payments?limit=20&status=confirmed`),
    page("payments of an invoice", `${home}/payments?invoiceId=${some.id}`),
    page("customers, first page", `${home}/customers?limit=20`),
    page("a customer by e-mail", `${home}/customers?email=customer7@example.com`),
    page("deliveries, first page", `${home}/webhook-deliveries?limit=20`),
    page("deliveries, 10,000 deep", `${home}/webhook-deliveries?limit=20&cursor=${deepDelivery}`),
    page("deliveries by status", `${home}/webhook-deliveries?status=dead_letter`),
    page("deliveries of an endpoint", `${home}/webhook-deliveries?webhookEndpointId=${dead}`),
    page(
      "deliveries of an endpoint by a status that none has",
      `${home}/webhook-deliveries?webhookEndpointId=${taking}&status=dead_letter`,
    ),
    page("deliveries by a rare type", `${home}/webhook-deliveries?eventType=invoice.canceled`),
    page("audit, first page", `${home}/audit-logs?limit=20`),
    page("audit, 10,000 deep", `${home}/audit-logs?limit=20&cursor=${deepEntry}`),
    page("audit by action", `${home}/audit-logs?action=invoice.canceled`),
    page("audit by actor", `${home}/audit-logs?actorId=${canceling}`),
    page("audit by actor and action", `${home}/audit-logs?actorId=${canceling}&${canceled}`),
    page(
      "audit by an actor who never did that",
      `${home}/audit-logs?actorId=${issuing}&${canceled}`,
    ),
    page("audit of a time", `${home}/audit-logs?${auditTime}`),
    page("audit of a time by action", `${home}/audit-logs?${auditTime}&${canceled}`),
    watch("all payments", "payments"),
    watch("all payments by a rare status", "payments?status=review"),
    watch("all payments of a sender", `payments?fromAddress=0x${"0".repeat(39)}1`),
    watch("all payments of a frequent sender", `payments?fromAddress=0x${frequentSender}`),
    watch("all payments of a network", "payments?network=sandbox"),
    watch("all deliveries", "webhook-deliveries"),
    watch("all deliveries by a rare status", "webhook-deliveries?status=failed"),
    watch("dead letters", "queues/webhooks/failed-jobs"),
    watch("all audit entries", "audit-logs"),
    watch("all audit by actor and action", `audit-logs?actorId=${canceling}&${canceled}`),
    watch("all audit by an actor who never did that", `audit-logs?actorId=${issuing}&${canceled}`),
    watch("organizations", "organizations"),
    watch("operations status", "operations/status", figuresTarget),
    page("events, first page", `${home}/events?limit=20`),
    page("events, deep", `${home}/events?limit=20&after=${deepEvent}`),
    page("events of some types", `${home}/events?types=invoice.paid,wallet.created`),
    figures("summary", `${home}/analytics/summary`),
    figures("summary of 395 days", `${home}/analytics/summary?${long}`),
    figures("charts by day", `${home}/analytics/charts`),
    figures("charts by day of 395 days", `${home}/analytics/charts?${long}`),
    figures("charts by month of 395 days", `${home}/analytics/charts?${long}&interval=month`),
    figures("usage", `${home}/usage`),
    figures("top wallets", `${home}/analytics/top-wallets`),
    // Reads every customer, so its cost grows with their number and it has no target.
    figures("top customers", `${home}/analytics/top-customers`, null),
    admin("platform summary", "summary"),
    admin("platform charts", "charts"),
    admin("top organizations", "top-organizations"),
  ];
}

/** The rows of a list: all of a table's that meet a condition, ordered by id or by another column, newest first. */
interface DeepRows {
  readonly table: string;
  readonly where?: string;
  readonly by?: string;
}

/**
 * Returns the cursor after 10,000 rows, or after all rows of a shorter list: that of the first page, with the position
 * of another row. Following the cursors of 100 pages would take longer than all measurements.
 */
async function deepCursor(
  app: TestApp,
  path: string,
  key: string,
  { table, where = "1 = 1", by = "id" }: DeepRows,
): Promise<string> {
  const { body } = await expectStatus(app.request("GET", path, { key }), 200);
  const issued = Buffer.from(body["nextCursor"] as string, "base64url").toString("utf8");
  const [list, fingerprint] = JSON.parse(issued) as [list: string, fingerprint: string];
  const [row] = await app.app.db.all<{ id: string; value: string | number }>(
    `SELECT id, value AS "value" FROM (
       SELECT id, ${by} AS value FROM ${table}
       WHERE organization_id = (SELECT organization_id FROM invoices LIMIT 1) AND ${where}
       ORDER BY ${by} DESC, id DESC LIMIT ${String(deepRows)}) AS newest
     ORDER BY value, id LIMIT 1`,
  );
  if (row === undefined) throw new Error(`no row of ${table} is in the list`);
  const position = by === "id" ? row.id : `${String(BigInt(row.value))}.${row.id}`;
  return Buffer.from(JSON.stringify([list, fingerprint, position])).toString("base64url");
}

interface SeededInvoice {
  readonly id: string;
  readonly customerId: string;
  readonly externalId: string;
}

async function firstOf(app: TestApp, path: string, key: string): Promise<SeededInvoice> {
  const { body } = await expectStatus(app.request("GET", path, { key }), 200);
  const found = (body["data"] as SeededInvoice[]).find(
    ({ customerId }) => (customerId as string | null) !== null,
  );
  if (found === undefined) throw new Error("no invoice of the first page has a customer");
  return found;
}

export async function ask({ app }: Library, { path, key }: Question): Promise<void> {
  await expectStatus(app.request("GET", path, key), 200);
}

export interface Times {
  readonly medianMs: number;
  /** The 99th percentile in milliseconds. */
  readonly p99Ms: number;
}

/** Measures a request `samples` times, after `warmUps` that do not count. */
export async function timesOf(
  library: Library,
  question: Question,
  samples: number,
  warmUps = 3,
): Promise<Times> {
  for (let warm = 0; warm < warmUps; warm += 1) await ask(library, question);
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const startedAt = performance.now();
    await ask(library, question);
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const within = (part: number) => times[Math.ceil(samples * part) - 1] ?? 0;
  return { medianMs: within(0.5), p99Ms: within(0.99) };
}
