// After a fault: repeats what was not answered, waits until the background work is done, and compares the store and the
// receiver with what was acknowledged.
import { minute, systemClock } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { until } from "../../support/until.ts";
import { toldTypes, type Ground } from "./ground.ts";
import { creationOf, type Load, type LoadGround, type Order } from "./load.ts";

/** How long the background work may take after a fault, in milliseconds; leases of dead servers end within it. */
const patienceMs = Number(process.env["PROVE_PATIENCE"] ?? "240") * 1_000;
/** Requests at the same time. */
const retriesAtOnce = 8;

/** The counts of a proof. */
export interface Figures {
  readonly requests: number;
  readonly acknowledged: number;
  readonly found: number;
  readonly lost: number;
  readonly doubled: number;
  /** Events that wait for a time to which the clock had jumped. */
  readonly delayed: number;
  /** Faults, each in words; none in a store that is whole. */
  readonly faults: readonly string[];
}

/** The part of a ground that is settled. */
interface SettledGround extends LoadGround {
  readonly shop: Pick<Ground["shop"], "path" | "key" | "installation">;
  readonly receiver: Pick<Ground["receiver"], "requests">;
  readonly openStore: Ground["openStore"];
}

interface Counted {
  readonly credited: number;
  readonly transfers: number;
  readonly told: number;
  readonly delayed: number;
  readonly events: number;
}

/**
 * Settles a load that has stopped.
 * @param options.repeatsAll false to repeat only what was not answered
 */
export async function settle(
  ground: SettledGround,
  load: Load,
  { repeatsAll = true }: { readonly repeatsAll?: boolean } = {},
): Promise<Figures> {
  const { orders, paid } = load;
  const acknowledged = orders.filter(({ made }) => made !== null).length;
  const wrong = [...load.wrong].map(([text, times]) => `${String(times)} × ${text}`);
  const repeated = repeatsAll ? orders : orders.filter(({ made }) => made === null);
  const changed = await retryAll(ground, repeated);
  const db = await ground.openStore();
  try {
    const waited = await waitForWork(ground, db);
    const found = await idsByKey(db);
    const lost = orders.filter(({ key, made }) => found.get(key)?.[0] !== made?.id);
    const doubled = orders.filter(({ key }) => (found.get(key)?.length ?? 0) > 1);
    const paidTwice = await creditedTwice(db);
    const unpaid = await withoutTransfer(db, paid);
    const uncredited = Math.max(0, waited.transfers - waited.credited);
    const untold = Math.max(0, waited.events - waited.told - waited.delayed);
    return {
      requests: load.answers.length,
      acknowledged: acknowledged + paid.length,
      found: orders.length - lost.length + paid.length - unpaid,
      lost: lost.length + unpaid + uncredited + untold,
      doubled: doubled.length + changed + paidTwice,
      delayed: waited.delayed,
      faults: [
        ...wrong,
        ...(unpaid > 0 ? [`${String(unpaid)} acknowledged payments are not on their invoice`] : []),
        ...(uncredited > 0
          ? [`${String(uncredited)} transfers are not credited: ${await stateOfTransfers(db)}`]
          : []),
        ...(untold > 0 ? [`${String(untold)} events did not reach the receiver`] : []),
        ...(await verified(ground)),
      ],
    };
  } finally {
    await db.close();
  }
}

/** Repeats every request with its key. Returns the number of keys whose repeated answer is another than the first. */
async function retryAll(ground: LoadGround, orders: readonly Order[]): Promise<number> {
  const waiting = [...orders];
  let changed = 0;
  async function retry(): Promise<void> {
    for (let order = waiting.pop(); order !== undefined; order = waiting.pop()) {
      const made = await created(ground, order);
      if (order.made !== null && order.made.id !== made.id) changed += 1;
      order.made ??= made;
    }
  }
  await Promise.all(Array.from({ length: retriesAtOnce }, retry));
  return changed;
}

async function created(ground: LoadGround, order: Order): Promise<NonNullable<Order["made"]>> {
  const answer = await until(
    `an answer to ${order.key}`,
    async () => {
      const url = ground.servers[0]?.url ?? "";
      const said = await fetch(
        `${url}${ground.shop.path}/invoices`,
        creationOf(ground, order),
      ).catch(() => null);
      return said === null
        ? { status: 0, text: "" }
        : { status: said.status, text: await said.text() };
    },
    ({ status }) => status === 201,
    patienceMs,
  );
  return JSON.parse(answer.text) as NonNullable<Order["made"]>;
}

/** Waits until every transfer of the chain is credited and confirmed, and every event was received. */
async function waitForWork(ground: SettledGround, db: Database): Promise<Counted> {
  const isDone = ({ credited, transfers, told, delayed, events }: Counted) =>
    credited >= transfers && told + delayed >= events;
  const ask = () => count(ground, db);
  try {
    return await until("the background work", ask, isDone, patienceMs);
  } catch {
    return ask();
  }
}

async function count({ receiver }: SettledGround, db: Database): Promise<Counted> {
  const [transfers] = await db.all<{ count: number }>(
    `SELECT COUNT(*) AS "count" FROM sandbox_transfers WHERE is_failed = 0 AND is_lie = 0`,
  );
  const [credited] = await db.all<{ count: number }>(
    `SELECT COUNT(DISTINCT transaction_hash) AS "count" FROM payments WHERE status = 'confirmed'`,
  );
  const types = toldTypes.map((type) => `'${type}'`).join(", ");
  // An endpoint hears nothing from before its time: that is what events of a clock that was set back look like.
  const events = await db.all<{ id: string }>(
    `SELECT id AS "id" FROM events WHERE organization_id IS NOT NULL AND type IN (${types})
       AND occurred_at >= (SELECT MIN(created_at) FROM webhook_endpoints)`,
  );
  const [later] = await db.all<{ count: number }>(
    `SELECT COUNT(*) AS "count" FROM webhook_deliveries WHERE attempts = 0 AND due_at > $1`,
    [systemClock.now() + minute],
  );
  const received = new Set(receiver.requests.map(({ headers }) => headers["webhook-id"]));
  return {
    transfers: transfers?.count ?? 0,
    credited: credited?.count ?? 0,
    delayed: later?.count ?? 0,
    events: events.length,
    told: events.filter(({ id }) => received.has(id)).length,
  };
}

async function idsByKey(db: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db.all<{ id: string; key: string }>(
    `SELECT id AS "id", external_id AS "key" FROM invoices WHERE external_id IS NOT NULL`,
  );
  const found = new Map<string, string[]>();
  for (const { id, key } of rows) found.set(key, [...(found.get(key) ?? []), id]);
  return found;
}

/** Returns the number of payments beyond one for each transfer of the chain. */
async function creditedTwice(db: Database): Promise<number> {
  const [row] = await db.all<{ count: number }>(
    `SELECT COUNT(*) - COUNT(DISTINCT transaction_hash) AS "count" FROM payments`,
  );
  return row?.count ?? 0;
}

/** Returns how many transfers of the chain are in each state, in words. */
async function stateOfTransfers(db: Database): Promise<string> {
  const rows = await db.all<{ state: string | null; payment: string | null; count: number }>(
    `SELECT t.disposition AS "state", p.status AS "payment", COUNT(*) AS "count" FROM sandbox_transfers s
     LEFT JOIN transfers t ON t.transaction_hash = s.transaction_hash
     LEFT JOIN payments p ON p.transaction_hash = s.transaction_hash GROUP BY 1, 2`,
  );
  return rows
    .map(({ state, payment, count }) =>
      [String(count), state ?? "not read", payment ?? "without a payment"].join(" "),
    )
    .join(", ");
}

/** Returns the number of acknowledged payments whose invoice has none. */
async function withoutTransfer(db: Database, paid: readonly string[]): Promise<number> {
  const rows = await db.all<{ id: string }>(
    `SELECT checkout_id AS "id" FROM invoices
     WHERE id IN (SELECT invoice_id FROM payments WHERE status = 'confirmed')`,
  );
  const settled = new Set(rows.map(({ id }) => id));
  return paid.filter((id) => !settled.has(id)).length;
}

/** Returns the faults that `till db verify` and `till audit verify` find. */
async function verified({ shop }: SettledGround): Promise<string[]> {
  const faults: string[] = [];
  for (const words of [
    ["db", "verify"],
    ["audit", "verify"],
  ]) {
    const { status, stdout, stderr } = await shop.installation.run(words);
    if (status !== 0) faults.push(`till ${words.join(" ")}: ${stdout}${stderr}`);
  }
  return faults;
}
