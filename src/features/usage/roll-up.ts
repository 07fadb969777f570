import type { App } from "../../app.ts";
import { day, hour, second, type Instant } from "../../kernel/clock.ts";
import { columns, decodeRows } from "../../platform/database/schema/statements.ts";
import {
  systemContext,
  type Database,
  type Tx,
  type WriteContext,
} from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import { givenRows } from "../../platform/database/query/json-rows.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import { figureChanges, figures, platformScope, type Grain, type Measure } from "./meter.ts";

type Change = RowOf<typeof figureChanges>;
type Figure = RowOf<typeof figures>;
type Cell = Omit<Figure, "items" | "sign" | "amount">;

/** Number of changes summed in one transaction, small enough not to delay other writers. */
const batchMax = 1_000;
const leaseLife = 30 * second;
const everyMs = second;
const lengths: Readonly<Record<Grain, number>> = { hour, day };

/**
 * Creates the worker that adds changes to the sums in the background, so that concurrent changes never wait for the
 * same sum. Until then, readers add the pending changes to the sums: figures are always exact, and summing only makes
 * reading cheaper.
 */
export function figuresWorker(app: App): Worker {
  const { db, leases } = app;
  const context = systemContext("figures");
  let last: ChangeKey | null = null;
  return {
    name: "figures",
    everyMs,
    async run() {
      const waiting = await db.all("SELECT 1 AS found FROM figure_changes LIMIT 1");
      if (waiting.length === 0) return false;
      const lease = await leases.acquire("figures", leaseLife);
      if (lease === null) return false;
      last = await db.write(context, async (tx) => {
        // The guard also prevents two processes from adding to the same sum.
        await leases.guard(tx, lease);
        return addUp(tx, last);
      });
      return last !== null;
    },
  };
}

/** Primary key of a change. */
type ChangeKey = Pick<Change, "organizationId" | "id">;

/** Sums all pending changes; for callers with exclusive access to the store. */
export async function rollUpAll(db: Database, context: WriteContext): Promise<void> {
  let last: ChangeKey | null = null;
  do {
    const after: ChangeKey | null = last;
    last = await db.write(context, (tx) => addUp(tx, after));
  } while (last !== null);
}

/**
 * Moves a batch of changes after a position into the sums; null is the beginning. Returns the position of the last one,
 * or null if the batch was not full. Continuing from there skips the dead tuples of deleted changes, which PostgreSQL
 * keeps for a while.
 */
async function addUp(tx: Tx, after: ChangeKey | null): Promise<ChangeKey | null> {
  const found = await tx.all<ChangeKey>(
    `SELECT organization_id AS "organizationId", id FROM figure_changes
     WHERE (organization_id, id) > ($1, $2) ORDER BY organization_id, id LIMIT $3`,
    [after?.organizationId ?? "", after?.id ?? "", batchMax],
  );
  const last = found.at(-1);
  if (last === undefined) return null;
  // Delete by key: for a row-value range PostgreSQL would read to the end of the index. Only returned rows are summed.
  await addToSums(tx, await tx.deleteMany(figureChanges, found));
  return found.length === batchMax ? last : null;
}

async function addToSums(tx: Tx, changes: readonly Change[]): Promise<void> {
  const sums = new Map<string, Figure>();
  for (const { cell, ...change } of [...byHour(changes).values()].flatMap(cellsOf)) {
    const key = keyOf(cell);
    sums.set(key, plus(sums.get(key) ?? { ...cell, items: 0, sign: 1, amount: 0n }, change));
  }
  for (const stored of await storedSums(tx, [...sums.values()])) {
    const added = sums.get(keyOf(stored));
    if (added !== undefined) sums.set(keyOf(stored), plus(added, stored));
  }
  await save(tx, [...sums.values()]);
}

/** The sum of the changes of one hour that concern the same figures. */
type HourSum = Omit<Cell, "grain"> & Pick<Figure, "items" | "sign" | "amount">;

/** Sums changes that contribute to the same figures, because there are far fewer of these than changes. */
function byHour(changes: readonly Change[]): ReadonlyMap<string, HourSum> {
  const hours = new Map<string, HourSum>();
  for (const change of changes) {
    const { organizationId, measure, subject, happenedAt, currency } = change;
    const startsAt = startOf(happenedAt, "hour");
    const key = [organizationId, measure, startsAt, currency, subject].join("\n");
    const empty = { organizationId, measure, subject, startsAt, currency };
    const sum = hours.get(key) ?? { ...empty, items: 0, sign: 1, amount: 0n };
    hours.set(key, plus(sum, change));
  }
  return hours;
}

/** Returns every sum to which changes contribute. */
function cellsOf(sum: HourSum): ({ cell: Cell } & Pick<Figure, "items" | "sign" | "amount">)[] {
  const { organizationId, measure, subject, startsAt, currency, items, sign, amount } = sum;
  const scopes: [scope: string, measure: Measure, subject: string][] = [
    [organizationId, measure, subject],
  ];
  if (measure === "invoices" || measure === "volume") {
    scopes.push([platformScope, measure, subject]);
  }
  if (measure === "volume") scopes.push([platformScope, "organization", organizationId]);
  return scopes.flatMap(([scope, each, of]) =>
    (["hour", "day"] as const).map((grain) => ({
      cell: {
        organizationId: scope,
        measure: each,
        grain,
        startsAt: startOf(startsAt, grain),
        currency,
        subject: of,
      },
      items,
      sign,
      amount,
    })),
  );
}

function startOf(at: Instant, grain: Grain): Instant {
  return Math.floor(at / lengths[grain]) * lengths[grain];
}

function keyOf(cell: Cell): string {
  const { organizationId, measure, grain, startsAt, currency, subject } = cell;
  return JSON.stringify([organizationId, measure, grain, startsAt, currency, subject]);
}

function plus<T extends Pick<Figure, "items" | "sign" | "amount">>(
  one: T,
  other: Pick<Figure, "items" | "sign" | "amount">,
): T {
  const total = signed(one) + signed(other);
  return {
    ...one,
    items: one.items + other.items,
    sign: total < 0n ? -1 : 1,
    amount: total < 0n ? -total : total,
  };
}

function signed({ sign, amount }: Pick<Figure, "sign" | "amount">): bigint {
  return sign < 0 ? -amount : amount;
}

const { items: _items, sign: _sign, amount: _amount, ...cell } = figures.columns;
const given = givenRows("given", cell);

async function storedSums(tx: Tx, cells: readonly Cell[]): Promise<Figure[]> {
  const stored = await tx.all(
    `SELECT ${columns(figures, "f")} FROM ${given.from(tx.dialect, 1)} JOIN figures f
     ON f.organization_id = given.organization_id AND f.measure = given.measure AND f.grain = given.grain
       AND f.starts_at = given.starts_at AND f.currency = given.currency AND f.subject = given.subject`,
    [given.values(cells)],
  );
  return decodeRows(figures, stored);
}

async function save(tx: Tx, sums: readonly Figure[]): Promise<void> {
  const isNothing = ({ items, amount }: Figure) => items === 0 && amount === 0n;
  await tx.deleteMany(figures, sums.filter(isNothing).map(cellOf));
  await tx.upsertMany(
    figures,
    sums.filter((sum) => !isNothing(sum)),
  );
}

function cellOf({ organizationId, measure, grain, startsAt, currency, subject }: Cell): Cell {
  return { organizationId, measure, grain, startsAt, currency, subject };
}
