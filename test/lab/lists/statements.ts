import { declaredTables, type SqlValue } from "../../../src/platform/database/schema/table.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { selectStatement } from "../../../src/platform/database/schema/statements.ts";
import { testContext } from "../../support/store/stores.ts";

export interface SeenStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Records every statement that is read from this store while `work` runs. */
export async function statementsOf(
  db: Database,
  work: () => Promise<unknown>,
): Promise<SeenStatement[]> {
  const seen: SeenStatement[] = [];
  const watched = db as { -readonly [K in "all" | "find" | "findOne"]: Database[K] };
  const { all, find, findOne } = watched;
  watched.all = (sql, values = []) => {
    seen.push({ sql, values });
    return all(sql, values);
  };
  watched.find = (table, rest, values = []) => {
    seen.push({ sql: selectStatement(table, rest), values });
    return find(table, rest, values);
  };
  watched.findOne = (table, rest, values = []) => {
    seen.push({ sql: selectStatement(table, rest), values });
    return findOne(table, rest, values);
  };
  try {
    await work();
  } finally {
    Object.assign(watched, { all, find, findOne });
  }
  return seen;
}

/**
 * Small tables that are read completely on purpose: versions, schedule times, networks, leases, and the changes that
 * are not in the platform's figures yet.
 */
const readWhole = ["schema_versions", "cron_runs", "network_states", "leases", "figure_changes"];

/**
 * Returns the steps of a statement's plan that scan a whole table. PostgreSQL scans small tables despite an index, so
 * scans are made expensive there.
 */
export async function badSteps(db: Database, statement: SeenStatement): Promise<string[]> {
  const steps = await planOf(db, statement);
  return steps
    .filter((step) => {
      if (db.dialect === "postgres") return step.includes("Seq Scan");
      const scanned = /^SCAN (\w+)$/.exec(step)?.[1];
      return scanned !== undefined && isTable(statement.sql, scanned);
    })
    .filter((step) => !readWhole.some((table) => step.includes(table)));
}

/** Returns the steps of a statement's plan in the database's words. */
export async function planOf(db: Database, { sql, values }: SeenStatement): Promise<string[]> {
  if (db.dialect === "sqlite") {
    const plan = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values);
    return plan.map(({ detail }) => detail);
  }
  const plan = await db.write(testContext, async (tx) => {
    await tx.run("SET LOCAL enable_seqscan = off");
    return tx.all<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`, values);
  });
  return plan.map((row) => row["QUERY PLAN"].trim());
}

/**
 * True if a name in a statement is a table of the store or its alias, and not a result of another part of the
 * statement.
 */
function isTable(sql: string, name: string): boolean {
  return declaredTables().some(
    (table) => table.name === name || new RegExp(`\\b${table.name} (AS )?${name}\\b`).test(sql),
  );
}

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Returns the number of rows that PostgreSQL examines for an answer, by its own count, including those that it
 * discards.
 */
export async function rowsLookedAt(db: Database, { sql, values }: SeenStatement): Promise<number> {
  const [answer] = await db.write(testContext, async (tx) => {
    await tx.run("SET LOCAL enable_seqscan = off");
    return tx.all<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
      values,
    );
  });
  const rows = ({ Plans = [], ...node }: PlanNode): number =>
    Plans.length > 0
      ? Plans.reduce((sum, each) => sum + rows(each), removed(node))
      : node["Actual Rows"] * node["Actual Loops"] + removed(node);
  return answer === undefined ? 0 : rows(answer["QUERY PLAN"][0].Plan);
}

/** The counts are averages per loop. */
const removed = (node: Omit<PlanNode, "Plans">): number =>
  ((node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)) *
  node["Actual Loops"];
