import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Client, QueryResult } from "pg";
import { Defect } from "../../../kernel/errors.ts";
import type { RawRow } from "../database.ts";
import { makeSerial } from "../sqlite/serial.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import type { Pulse } from "./pulse.ts";
import { isServerError, RolledBackByServer, translate } from "./errors.ts";

/** A connection on loan from the pool. It throws the store's errors. */
export interface BorrowedConnection extends Session {
  /** Runs a statement without values, such as COMMIT; returns the server's command tag. */
  exec(sql: string): Promise<string>;
  /** True if the server rolled the transaction back because of another, so that the write may be retried. */
  wasRolledBack(): boolean;
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

/**
 * @param mayWrite false for a connection on which every transaction is read-only
 * @param pulse gives up statements that a silent server does not answer; without it they wait for their timeout
 */
export function makeBorrowedConnection(
  client: Client,
  mayWrite: boolean,
  pulse?: Pulse,
): BorrowedConnection {
  // pg requires that a query is issued only after the previous one has ended.
  const inOrder = makeSerial();
  let isUsable = true;
  let wasRolledBack = false;
  let timeout = answerMilliseconds;

  function failed(error: unknown, sql: string): Error {
    // A Defect comes from the type parsers of this program; the connection is still usable.
    if (!(error instanceof Defect) && !isServerError(error)) isUsable = false;
    if (isServerError(error) && error.code.startsWith("57P")) isUsable = false;
    const ours = translate(error, sql, mayWrite);
    if (ours instanceof RolledBackByServer) wasRolledBack = true;
    return ours as Error;
  }

  function giveUp(): void {
    const { connection } = client as unknown as { connection: { stream: Duplex } };
    connection.stream.destroy(new Error("the server does not answer"));
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
    return query({ name: nameOf(sql), text: sql, values: [...values] });
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
    isUsable: () => isUsable,
  };
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
