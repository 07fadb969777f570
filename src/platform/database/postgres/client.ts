import { createHash } from "node:crypto";
import type { Client, QueryResult } from "pg";
import { Defect } from "../../../kernel/errors.ts";
import type { RawRow } from "../database.ts";
import { makeSerial } from "../serial.ts";
import { statementOf, type Session } from "../statement.ts";
import type { SqlValue } from "../table.ts";
import { isServerError, RolledBackByServer, translate } from "./errors.ts";

/** A connection while it is lent by its pool. Its errors are ours. */
export interface Lent extends Session {
  /** A statement without values, such as COMMIT; gives the server's word for what it did. */
  exec(sql: string): Promise<string>;
  /** The server undid the transaction on account of another, so the same write may run again. */
  wasRolledBack(): boolean;
  /** False after its connection was lost, or its state is not known. */
  isUsable(): boolean;
}

/** A server that does not answer is given up after this; its own timeout of a statement is shorter. */
export const answerMilliseconds = 40_000;
/** A migration takes as long as it takes. */
const patientMilliseconds = 24 * 3_600_000;

/** pg's own typings lack the timeout of one query. */
interface Query {
  readonly text: string;
  readonly name?: string;
  readonly values?: SqlValue[];
  readonly query_timeout: number;
}

export function makeLent(client: Client): Lent {
  // pg asks that a query is given to it when the one before has ended.
  const inOrder = makeSerial();
  let isUsable = true;
  let wasRolledBack = false;
  let timeout = answerMilliseconds;

  function failed(error: unknown, sql: string): Error {
    // Our own type parsers refuse a value, after which the connection is as it was.
    if (!(error instanceof Defect) && !isServerError(error)) isUsable = false;
    if (isServerError(error) && error.code.startsWith("57P")) isUsable = false;
    const ours = translate(error, sql);
    if (ours instanceof RolledBackByServer) wasRolledBack = true;
    return ours as Error;
  }

  function query(statement: Omit<Query, "query_timeout">): Promise<QueryResult<RawRow>> {
    return new Promise((resolve, reject) => {
      inOrder((done) => {
        const patient: Query = { ...statement, query_timeout: timeout };
        client.query<RawRow>(patient).then(
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
      // Where the transaction has told the server not to lose patience, neither does this side.
      if (sql.startsWith("SET LOCAL statement_timeout")) timeout = patientMilliseconds;
      return rowCount ?? 0;
    },
    exec: async (sql) => (await query({ text: sql })).command,
    wasRolledBack: () => wasRolledBack,
    isUsable: () => isUsable,
  };
}

const names = new Map<string, string>();
/** Texts are fixed in the program, so they are few; made-up ones must not eat the memory. */
const nameLimit = 4_000;

/** The name that a text is prepared under on every connection. */
function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
    if (names.size >= nameLimit) names.clear();
    names.set(sql, name);
  }
  return name;
}
