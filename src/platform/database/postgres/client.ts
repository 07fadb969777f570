import { createHash } from "node:crypto";
import type { Client, QueryResult } from "pg";
import type { RawRow } from "../database.ts";
import { makeSerial } from "../sqlite/serial.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import type { Pulse } from "./pulse.ts";
import { flushesCommits } from "./durability.ts";
import { isLoss, isReadOnly, isTimeout, RolledBackByServer, translate } from "./errors.ts";
import { cutConnection } from "./primary.ts";

/** A connection on loan from the pool. It throws the store's errors. */
export interface BorrowedConnection extends Session {
  /** Runs a statement without values, such as COMMIT; returns the server's command tag. */
  exec(sql: string): Promise<string>;
  /**
   * True if the server rolled the transaction back because of another, takes no writes any more, or lost the connection:
   * unless COMMIT was sent, the write may be retried.
   */
  wasRolledBack(): boolean;
  /** The error with which the connection was lost, if it was. */
  lossOf(): Error | null;
  /** False if the connection was lost or its state is unknown. */
  isUsable(): boolean;
}

/** The client-side timeout of a query, in milliseconds; the server's statement timeout is shorter. */
export const answerMilliseconds = 40_000;
/** The query timeout of migrations, in milliseconds. */
const patientMilliseconds = 24 * 3_600_000;

/** pg's typings lack the timeout of a single query. */
interface Query {
  readonly text: string;
  readonly name?: string;
  readonly values?: SqlValue[];
  readonly query_timeout: number;
}

export interface ConnectionOptions {
  /** False for a connection on which every transaction is read-only. */
  readonly mayWrite: boolean;
  /** False if writes were refused from the start, so that a refusal does not mean a change. */
  readonly couldWrite?: boolean;
  /** Gives up statements that a silent server does not answer; without it they wait for their timeout. */
  readonly pulse?: Pulse;
  /** True if the server may be another one in the next transaction, so that nothing can be prepared. */
  readonly isShared?: boolean;
  /** Called when the server ended the connection or refused it writes. */
  readonly onLost?: () => void;
}

export function makeBorrowedConnection(
  client: Client,
  { mayWrite, couldWrite = mayWrite, pulse, isShared = false, onLost }: ConnectionOptions,
): BorrowedConnection {
  // pg requires that a query is issued only after the previous one has ended.
  const inOrder = makeSerial();
  let isUsable = true;
  let wasRolledBack = false;
  let loss: Error | null = null;
  let timeout = answerMilliseconds;

  function failed(error: unknown, sql: string): Error {
    const ours = translate(error, sql, mayWrite);
    if (ours instanceof RolledBackByServer) wasRolledBack = true;
    if (isLoss(error, couldWrite)) {
      isUsable = false;
      wasRolledBack = true;
      loss ??= ours as Error;
      onLost?.();
    } else if (isTimeout(error) || (mayWrite && isReadOnly(error))) isUsable = false;
    return ours as Error;
  }

  function giveUp(): void {
    cutConnection(client, "the server does not answer");
  }

  function query(statement: Omit<Query, "query_timeout">): Promise<QueryResult<RawRow>> {
    return new Promise((resolve, reject) => {
      inOrder((done) => {
        const patient: Query = { ...statement, query_timeout: timeout };
        const answer = client.query<RawRow>(patient);
        (pulse?.during(answer, giveUp) ?? answer).then(
          (result) => {
            done();
            resolve(result);
          },
          (error: unknown) => {
            done();
            reject(failed(error, statement.text));
          },
        );
      });
    });
  }

  function prepared(sql: string, values: readonly SqlValue[]): Promise<QueryResult<RawRow>> {
    statementOf(sql, values);
    const name = isShared ? {} : { name: nameOf(sql) };
    return query({ ...name, text: sql, values: [...values] });
  }

  return {
    all: async (sql, values) => (await prepared(sql, values)).rows,
    async run(sql, values) {
      const { rowCount } = await prepared(sql, values);
      // If the transaction lifts the server's timeout, the client lifts its own too.
      if (sql.startsWith("SET LOCAL statement_timeout")) timeout = patientMilliseconds;
      return rowCount ?? 0;
    },
    exec: async (sql) => (await query({ text: sql })).command,
    wasRolledBack: () => wasRolledBack,
    lossOf: () => loss,
    isUsable: () => isUsable,
  };
}

/** Returns SQL that applies settings, such as `jit = off`, to every transaction of a connection. */
export function sessionOf(settings: readonly string[], mayWrite: boolean): string {
  return [
    ...settings.map((setting) => `SET ${setting}`),
    mayWrite ? flushesCommits(false) : "SET default_transaction_read_only = on",
  ].join("; ");
}

/** Returns SQL that begins a transaction and applies settings to it alone. */
export function transactionOf(settings: readonly string[], mayWrite: boolean): string {
  return [
    mayWrite ? "BEGIN" : "BEGIN READ ONLY",
    ...settings.map((setting) => `SET LOCAL ${setting}`),
    ...(mayWrite ? [flushesCommits(true)] : []),
  ].join("; ");
}

/** Runs a SELECT in a transaction of its own. */
export async function selectAlone(
  connection: BorrowedConnection,
  begin: string,
  sql: string,
  values: readonly SqlValue[],
): Promise<RawRow[]> {
  try {
    await connection.exec(begin);
    return await connection.all(sql, values);
  } finally {
    if (connection.isUsable()) await connection.exec("ROLLBACK").catch(() => undefined);
  }
}

const names = new Map<string, string>();
/**
 * The maximum number of cached names. The program's statements are constant and few; generated texts must not exhaust
 * memory.
 */
const nameLimit = 4_000;

/** Returns the name under which a statement is prepared on every connection. */
function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
    if (names.size >= nameLimit) names.clear();
    names.set(sql, name);
  }
  return name;
}
