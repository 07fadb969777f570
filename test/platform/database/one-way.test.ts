// Every statement that reaches a driver while all operations are called was run by Sequelize.
import { expect } from "chai";
import pg from "pg";
import { Sequelize } from "sequelize";
import sqlite3 from "sqlite3";
import { allOperations } from "../../../src/features/index.ts";
import { callExample, exampleOf } from "../../http/examples.ts";
import { openEstate } from "../../http/estate.ts";
import { eachStore } from "../../support/store/stores.ts";

type Method = (this: object, ...given: unknown[]) => unknown;

/** The statements of Sequelize, and of the hook that admits it, for each new connection. */
const ofConnections = [/^SET /, /^PRAGMA FOREIGN_KEYS=ON$/, /pg_type/, /pg_is_in_recovery\(\)/];

/** Calls `note` with the first argument, and with the object, of every call of a method; returns how it is put back. */
function watch(
  prototype: object,
  name: string,
  note: (given: unknown, on: object) => void,
): () => void {
  const methods = prototype as Record<string, Method>;
  const plain = methods[name];
  if (plain === undefined) throw new Error(`there is no method ${name}`);
  methods[name] = function (...given) {
    note(given[0], this);
    return plain.apply(this, given);
  };
  return () => {
    methods[name] = plain;
  };
}

/** Counts statements by text, until it is stopped. */
function countBoth() {
  const [sent, run] = [new Map<string, number>(), new Map<string, number>()];
  const add = (to: Map<string, number>, text: string) => {
    // The drivers get other words for the beginning of a transaction, and for numbers on SQLite.
    const key = text
      .trim()
      .replace(/^BEGIN$/, "START TRANSACTION;")
      .replaceAll(/\?(\d+)/g, "$$$1");
    if (!ofConnections.some((pattern) => pattern.test(key))) to.set(key, (to.get(key) ?? 0) + 1);
  };
  const stops = [
    ...["all", "run", "get", "each"].map((name) =>
      watch(sqlite3.Statement.prototype, name, (_, statement) => {
        add(sent, (statement as { readonly sql: string }).sql);
      }),
    ),
    watch(sqlite3.Database.prototype, "exec", (sql) => {
      add(sent, String(sql));
    }),
    watch(pg.Client.prototype, "query", (query, client) => {
      // Connections outside of the store's pools: those of the tests, and the one that watches the server.
      if (client.constructor === pg.Client) return;
      add(sent, typeof query === "string" ? query : String((query as { text?: unknown }).text));
    }),
    watch(Sequelize.prototype, "query", (sql) => {
      add(run, String(sql));
    }),
  ];
  return {
    sent,
    run,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

eachStore("the statements of all operations", (store) => {
  it("are run by Sequelize", async () => {
    const { sent, run, stop } = countBoth();
    const estate = await openEstate(store);
    try {
      for (const operation of allOperations) {
        const answer = await callExample(operation, estate, await exampleOf(operation, estate));
        expect(answer.status, operation.id).to.equal(operation.status);
      }
    } finally {
      await estate.stop();
      stop();
    }
    expect(run.size).to.be.above(200);
    const different = [...new Set([...sent.keys(), ...run.keys()])]
      .map((text) => ({ text, sent: sent.get(text) ?? 0, run: run.get(text) ?? 0 }))
      .filter((each) => each.sent !== each.run);
    expect(different).to.deep.equal([]);
  });
});
