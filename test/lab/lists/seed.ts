import pg from "pg";
import { rollUpAll } from "../../../src/features/usage/roll-up.ts";
import type { Instant } from "../../../src/kernel/clock.ts";
import { encodeTime } from "../../../src/kernel/id.ts";
import type { Database, Dialect, Tx } from "../../../src/platform/database/database.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { testContext } from "../../support/store/stores.ts";

export interface Seed {
  readonly organizationId: string;
  readonly walletId: string;
  /** Two endpoints: one gets nine of ten events and accepts them, the other has accepted none. */
  readonly endpointIds: readonly [string, string];
  readonly invoices: number;
  readonly customers: number;
  /** The invoices are spread evenly from here to `to`. */
  readonly from: Instant;
  readonly to: Instant;
}

const batchRows = 25_000;
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns SQL that encodes a whole number in Crockford's base 32, like the program's ids. */
function base32(value: string, digits: number): string {
  return Array.from({ length: digits }, (_, index) => {
    const shift = String(5 * (digits - 1 - index));
    return `SUBSTR('${alphabet}', CAST(1 + (((${value}) >> ${shift}) & 31) AS INTEGER), 1)`;
  }).join(" || ");
}

const idOf = (prefix: string, time: string, number: string) =>
  `'${prefix}_' || ${base32(time, 10)} || '00000000' || ${base32(number, 8)}`;

function padded(dialect: Dialect, value: string): string {
  return dialect === "sqlite"
    ? `printf('%078d', ${value})`
    : `LPAD(CAST(${value} AS TEXT), 78, '0')`;
}

/** Returns SQL for an amount of USD in the form of the figures. */
const asFigure = (amount: string) => `SUBSTR(${amount} || '${"0".repeat(36)}', 35, 78)`;

/**
 * The status of an invoice by number. Of every hundred: 55 paid, 30 expired, 6 canceled, 5 open, 1 partly paid and 3
 * drafts, well mixed.
 */
const statusOf = (number: string) => `CASE
  WHEN (${number} * 37) % 100 < 55 THEN 'paid' WHEN (${number} * 37) % 100 < 85 THEN 'expired'
  WHEN (${number} * 37) % 100 < 91 THEN 'canceled' WHEN (${number} * 37) % 100 < 96 THEN 'open'
  WHEN (${number} * 37) % 100 < 97 THEN 'partially_paid' ELSE 'draft' END`;

/** Returns SQL for a common value that one in a thousand rows replaces by a rare one. */
const mostly = (number: string, common: string, rare: string, at: number) =>
  `CASE WHEN ${number} % 1000 = ${String(at)} THEN ${rare} ELSE ${common} END`;

/** The customer of a fifth of the invoices, but of no drafts. */
export const frequentCustomer = `cus_${"0".repeat(25)}1`;

/** The sender of every payment, in the form of a stored address. */
export const frequentSender = "2".repeat(40);

/** The customer ids that `seed` uses. */
const customerId = (number: string) => idOf("cus", "0", number);

/** Returns SQL for the creation time of an invoice by number. */
const createdAt = (given: Seed) =>
  `(CAST(${String(given.from)} AS BIGINT) + n.i * ${String(stepOf(given))})`;

/** Fills a migrated store with SQL only: customers, invoices, and a confirmed payment for each paid invoice. */
export async function seed(db: Database, given: Seed): Promise<void> {
  for (const step of seedSteps) await step(db, given);
}

/** The steps of a seed in order, for a store that several processes fill one after another. */
export const seedSteps: readonly ((db: Database, given: Seed) => Promise<void>)[] = [
  invoice,
  describeAll,
  pay,
  note,
  deliver,
];

/** Returns SQL for two options with a hold each: USDT on the sandbox, which is in force, and the given token on BNB Smart Chain. */
function heldOptions({ walletId }: Seed, otherToken: string): string {
  const option = (network: string, token: string, address: string) =>
    `'{"network":"${network}","tokenSymbol":"' || ${token} || '","walletId":null,"quote":{"walletId":"${walletId}",` +
    `"walletAddress":"0x${address.repeat(40)}","tokenDecimals":6,"requiredConfirmations":3,"exchangeRate":"1","addressIndex":null,` +
    `"payableAmount":"1","askedAmount":null,"remainingAmount":"1","remainingAfter":"0","seen":"0","confirmed":"0","latestBlock":null}}'`;
  return `'[' || ${option("sandbox", "'USDT'", "1")} || ',' || ${option("bsc", otherToken, "3")} || ']'`;
}

async function invoice(db: Database, given: Seed): Promise<void> {
  const { dialect } = db;
  const amount = "(100 + (n.i * 7919) % 90000)";
  const created = createdAt(given);
  const status = statusOf("n.i");
  const several = `n.i % 10 = 1 AND ${status} <> 'draft'`;
  const options = heldOptions(given, mostly("n.i", "'USDC'", "'EURC'", 31));
  const issued = (value: string, or = "NULL") =>
    `CASE WHEN ${status} = 'draft' THEN ${or} ELSE ${value} END`;
  await fill(
    db,
    given.customers,
    `INSERT INTO customers (id, organization_id, external_id, name, email, metadata, version, created_at, updated_at)`,
    `${customerId("n.i")}, '${given.organizationId}', 'c' || n.i, 'Customer ' || n.i,
     'customer' || n.i || '@example.com', '{}', 1, 0, 0`,
  );
  await fill(
    db,
    given.invoices,
    `INSERT INTO invoices (id, organization_id, public_id, checkout_id, status, exception, version, amount,
       settlement_currency, settlement_decimals, token_symbol, token_decimals, network, required_confirmations,
       payable_amount, remaining_amount, exchange_rate, underpayment_tolerance, wallet_id, wallet_address, customer_id,
       external_id, description, expires_in_seconds, metadata, seen_amount, confirmed_amount, is_late, is_reverted,
       expires_at, late_until, created_at, updated_at, issued_at, paid_at, payment_options, paid_amount)`,
    `${idOf("inv", created, "n.i")}, '${given.organizationId}', 'pub' || n.i, 'chk' || n.i, ${status}, 'none', 1,
     ${padded(dialect, amount)}, ${mostly("n.i", "'USD'", "'EUR'", 11)}, 2, ${mostly("n.i", "'USDT'", "'USDC'", 17)}, 6, ${mostly("n.i", "'sandbox'", "'tron'", 23)}, 3, ${issued(padded(dialect, `${amount} * 10000`))},
     ${issued(padded(dialect, `${amount} * 10000`))}, '1', '0', '${given.walletId}', '0x00',
     CASE WHEN n.i % 5 < 3 THEN ${customerId(`(n.i * 7919) % ${String(given.customers)}`)}
       WHEN n.i % 5 = 3 THEN ${customerId("1")} END, 'order ' || n.i,
     'Order ' || n.i || CASE WHEN n.i % 1000 = 9 THEN ', a gift' ELSE '' END, 3600,
     CASE WHEN n.i % 10000 = 3 THEN '{"channel":"fax"}' WHEN n.i % 2 = 0 THEN '{"channel":"web"}' ELSE '{}' END, ${padded(dialect, "0")}, ${padded(dialect, "0")}, 0, 0, ${issued(`${created} + 3600000`)},
     ${issued(`${created} + 608400000`)}, ${created}, ${created}, ${issued(created)}, CASE WHEN ${status} = 'paid' THEN ${created} + 90000 END,
     CASE WHEN ${several} THEN ${options} END,
     CASE WHEN ${several} THEN CASE WHEN ${status} = 'paid' THEN ${padded(dialect, amount)} ELSE ${padded(dialect, "0")} END END`,
  );
}

/**
 * Adds the search terms and metadata of invoices. Every description begins with "order"; one in a thousand is a gift;
 * the channel is "web" for half of the invoices and "fax" for one in ten thousand.
 */
async function describeAll(db: Database, given: Seed): Promise<void> {
  const created = createdAt(given);
  const into = "INSERT INTO invoice_terms (organization_id, term, invoice_id)";
  const id = idOf("inv", created, "n.i");
  const terms: readonly (readonly [term: string, step: number, first: number])[] = [
    ["'d:order'", 1, 0],
    ["'d:' || n.i", 1, 0],
    ["'d:gift'", 1_000, 9],
    ["'m:7:channel=web'", 2, 0],
    ["'m:7:channel=fax'", 10_000, 3],
  ];
  for (const [term, step, first] of terms) {
    await fill(
      db,
      given.invoices,
      into,
      `'${given.organizationId}', ${term}, ${id}`,
      `n.i % ${String(step)} = ${String(first)}`,
    );
  }
  await fill(
    db,
    given.customers,
    "INSERT INTO customer_terms (organization_id, term, customer_id)",
    `'${given.organizationId}', 'customer', ${customerId("n.i")}`,
  );
}

/** The actors in the audit entries of `note`. */
export const auditActors = { issuing: idOf26("key", "1"), canceling: idOf26("usr", "2") } as const;

function idOf26(prefix: string, digit: string): string {
  return `${prefix}_${digit.repeat(26)}`;
}

/** Adds an audit entry per invoice: six of a hundred are cancellations, all by one user, who did nothing else. */
async function note(db: Database, given: Seed): Promise<void> {
  const created = createdAt(given);
  const kind = (issued: string, paid: string, canceled: string, rare: string) =>
    `CASE WHEN (n.i * 37) % 100 < 60 THEN ${issued} WHEN (n.i * 37) % 100 < 90 THEN ${paid}
       WHEN (n.i * 37) % 100 < 96 THEN ${canceled} ELSE ${rare} END`;
  const { issuing, canceling } = auditActors;
  await fill(
    db,
    given.invoices,
    `INSERT INTO audit_logs (id, organization_id, actor_type, actor_id, actor_label, action, target_type, target_id,
       changes, position, hash, created_at)`,
    `${idOf("aud", created, "n.i")}, '${given.organizationId}', 'api_key',
     ${kind(`'${issuing}'`, "NULL", `'${canceling}'`, `'${issuing}'`)}, 'shop',
     ${kind("'invoice.created'", "'payment.confirmed'", "'invoice.canceled'", "'customer.created'")},
     'invoice', ${idOf("inv", created, "n.i")}, '{}', 1000000000 + n.i, 'sealed', ${created}`,
  );
}

/** Adds a delivery per invoice. */
async function deliver(db: Database, given: Seed): Promise<void> {
  const created = createdAt(given);
  const [taking, dead] = given.endpointIds;
  const kind = (succeeded: string, failed: string, deadLetter: string) =>
    `CASE WHEN n.i % 10 = 9 THEN ${deadLetter} WHEN n.i % 1000 = 5 THEN ${failed} ELSE ${succeeded} END`;
  await fill(
    db,
    given.invoices,
    `INSERT INTO webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type, status, sequence, attempts,
       due_at, created_at, completed_at, body)`,
    `${idOf("whd", created, "n.i")}, '${given.organizationId}',
     CASE WHEN n.i % 10 = 9 THEN '${dead}' ELSE '${taking}' END, ${idOf("evt", created, "n.i")},
     CASE WHEN n.i % 1000 = 7 THEN 'invoice.canceled' WHEN n.i % 2 = 0 THEN 'invoice.paid' ELSE 'payment.confirmed' END,
     ${kind("'succeeded'", "'failed'", "'dead_letter'")}, n.i, 1,
     ${kind("NULL", String(given.to + 3_600_000), "NULL")}, ${created}, ${kind(created, "NULL", created)},
     '{"type":"invoice.paid"}'`,
  );
}

export function stepOf({ from, to, invoices }: Seed): number {
  return Math.max(1, Math.floor((to - from) / invoices));
}

async function fill(
  db: Database,
  rows: number,
  into: string,
  values: string,
  where = "1 = 1",
): Promise<void> {
  for (let start = 0; start < rows; start += batchRows) {
    await db.write(testContext, async (tx) => {
      await withoutForeignKeys(tx);
      await tx.run(
        `${into} WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $2)
         SELECT ${values} FROM n WHERE ${where}`,
        [start, Math.min(rows, start + batchRows)],
      );
    });
  }
}

/**
 * Runs work without foreign-key checks: the references are known to exist, and PostgreSQL would spend most of the time
 * on looking them up.
 */
async function withoutForeignKeys(tx: Tx): Promise<void> {
  if (tx.dialect === "postgres") await tx.run("SET LOCAL session_replication_role = replica");
}

/** Adds a transfer, a payment and the figures of every invoice, by ranges of ids. */
async function pay(db: Database, given: Seed): Promise<void> {
  const span = stepOf(given) * batchRows;
  const isPaid = `status IN ('paid', 'partially_paid') AND id >= $1 AND id < $2`;
  const whole = (amount: string) =>
    `(CASE WHEN status = 'paid' THEN ${amount} ELSE ${padded(db.dialect, "50")} END)`;
  // Unique, because no two invoices were created in the same millisecond.
  const hash = `SUBSTR(${padded(db.dialect, "created_at")}, 15)`;
  const of = (prefix: string) => `'${prefix}_' || SUBSTR(id, 5)`;
  for (let start = given.from; start < given.to + span; start += span) {
    const range = [start, start + span].map((at) => `inv_${encodeTime(at)}`);
    await db.write(testContext, async (tx) => {
      await withoutForeignKeys(tx);
      await tx.run(
        `INSERT INTO transfers (id, network, transaction_hash, log_index, block_height, block_hash, block_time, contract,
           token, token_decimals, from_address, to_address, amount, status, is_final, organization_id, invoice_id,
           disposition, created_at)
         SELECT ${of("trf")}, network, ${hash}, 0, 1, '${"0".repeat(64)}', created_at + 60000, '${"0".repeat(40)}',
           token_symbol, token_decimals, '${frequentSender}', '${"0".repeat(40)}', ${whole("payable_amount")}, 'seen', 1,
           organization_id, id, 'matched', created_at FROM invoices WHERE ${isPaid}`,
        range,
      );
      await tx.run(
        `INSERT INTO payments (id, organization_id, invoice_id, transfer_id, network, token, amount, settlement_amount,
           settlement_currency, settlement_decimals, token_decimals, rule, source, status, block_height, block_hash,
           block_time, required_confirmations, confirms_at_height, version, created_at, confirmed_at, transaction_hash)
         SELECT ${of("pay")}, organization_id, id, ${of("trf")}, network, token_symbol,
           ${whole("payable_amount")}, ${whole("amount")}, settlement_currency,
           settlement_decimals, token_decimals, 'exact_amount', 'detected', 'confirmed', 1, '${"0".repeat(64)}',
           created_at + 60000, 3, 3, 1, created_at, created_at + 90000, ${hash} FROM invoices WHERE ${isPaid}`,
        range,
      );
      await tx.run(
        `INSERT INTO figure_changes (organization_id, id, measure, happened_at, currency, subject, items, sign, amount)
         SELECT organization_id, id, 'invoices', issued_at, settlement_currency, status, 1, 1, ${asFigure("amount")}
         FROM invoices WHERE issued_at IS NOT NULL AND id >= $1 AND id < $2`,
        range,
      );
      for (const [measure, subject] of [
        ["volume", "''"],
        ["wallet", "wallet_id"],
        ["customer", "customer_id"],
      ] as const) {
        await tx.run(
          `INSERT INTO figure_changes (organization_id, id, measure, happened_at, currency, subject, items, sign, amount)
           SELECT organization_id, '${measure}' || id, '${measure}', created_at + 60000, settlement_currency, ${subject},
             1, 1, ${asFigure(whole("amount"))}
           FROM invoices WHERE ${isPaid} AND ${subject} IS NOT NULL`,
          range,
        );
      }
    });
  }
}

/** Adds the seeded changes to the figures as the background does; returns the number of changes per second. */
export async function addUpSeeded(db: Database): Promise<number> {
  const [waiting] = await db.all<{ items: number }>(
    "SELECT CAST(COUNT(*) AS INTEGER) AS items FROM figure_changes",
  );
  const startedAt = performance.now();
  await rollUpAll(db, testContext);
  const seconds = (performance.now() - startedAt) / 1_000;
  return (waiting?.items ?? 0) / seconds;
}

/**
 * Runs the maintenance that PostgreSQL does automatically after a while. SQLite plans without statistics, here as in
 * production.
 */
export async function settleDown(place: StoreOptions): Promise<void> {
  if (!("url" in place)) return;
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  await client.query("VACUUM (ANALYZE)");
  await client.end();
}
