// The behavior of Sequelize for each form of statement that the store runs, on both databases.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect } from "chai";
import {
  ConnectionError,
  DatabaseError,
  QueryTypes,
  Sequelize,
  UniqueConstraintError,
  type Options,
  type Transaction,
} from "sequelize";
import sqlite3 from "sqlite3";
import { Defect } from "../../../src/kernel/errors.ts";
import { driverError } from "../../../src/platform/database/errors.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { describeOnPostgres } from "../../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../../support/store/postgres.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { account, accounts, createAccounts } from "./accounts.ts";

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error as Error & { readonly parent: Error; readonly sql?: string },
  );

const options: Options = { logging: false, retry: { max: 1 } };

function conforms(open: () => Promise<{ sequelize: Sequelize; close: () => Promise<void> }>) {
  let sequelize: Sequelize;
  let close: () => Promise<void>;

  const all = (sql: string, bind: readonly unknown[] = []) =>
    sequelize.query<Record<string, unknown>>(sql, {
      type: QueryTypes.SELECT,
      ...(bind.length === 0 ? {} : { bind: [...bind] }),
    });
  const run = (sql: string, bind: readonly unknown[] = []) =>
    sequelize.query(sql, {
      type: QueryTypes.BULKUPDATE,
      ...(bind.length === 0 ? {} : { bind: [...bind] }),
    });

  beforeEach(async () => {
    ({ sequelize, close } = await open());
    await run(
      "CREATE TABLE things (id TEXT PRIMARY KEY, size BIGINT, CONSTRAINT small CHECK (size < 9007199254740993))",
    );
    await run("CREATE UNIQUE INDEX things_size ON things (size)");
    await run(
      "CREATE TABLE parts (id TEXT PRIMARY KEY, thing TEXT NOT NULL REFERENCES things (id))",
    );
  });
  afterEach(() => close());

  it("binds values unchanged, whatever they contain", async () => {
    const texts = [
      ...["", "$1", "$$", "$name", "?", ":name", "::text", "'", '"', "\\", "\\0", "`", "--", "/*"],
      ...["Ökonom 🧾", '{"a":[1,"$2"]}', "line\nline", "%s", "x".repeat(200_000)],
    ];
    for (const text of texts) {
      const [row] = await all("SELECT CAST($1 AS TEXT) AS text, CAST($2 AS TEXT) AS none", [
        text,
        null,
      ]);
      expect(row).to.deep.equal({ text, none: null });
    }
    for (const [place, size] of [0, -1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER].entries()) {
      await run("INSERT INTO things (id, size) VALUES ($1, $2)", [String(place), size]);
      const [row] = await all("SELECT size FROM things WHERE size = $1", [size]);
      expect(Number(row?.["size"])).to.equal(size);
    }
  });

  it("binds a value wherever and as often as its number occurs", async () => {
    const rows = await all(
      "SELECT CAST($2 AS TEXT) AS b, CAST($1 AS TEXT)||CAST($2 AS TEXT) AS ab, ($1=CAST($1 AS TEXT)) AS same",
      ["a", "b"],
    );
    expect(rows.map(({ b, ab }) => [b, ab])).to.deep.equal([["b", "ab"]]);
  });

  it("leaves the text of a statement alone", async () => {
    await run("INSERT INTO things (id, size) VALUES ('a', 1)");
    const [row] = await all(
      `SELECT '?' AS "question?", ':name' AS ":name", '$[0].$' AS path, 'it''s' AS quoted, "id" -- the rest
       FROM things /* of $ and ? */ WHERE id = $1`,
      ["a"],
    );
    expect(row).to.deep.equal({
      "question?": "?",
      ":name": ":name",
      path: "$[0].$",
      quoted: "it's",
      id: "a",
    });
  });

  it("returns the number of changed rows for every kind of change", async () => {
    const counts: [string, number][] = [
      ["INSERT INTO things (id, size) VALUES ('a', 1), ('b', 2), ('c', 3)", 3],
      ["INSERT INTO things (id, size) SELECT 'd', 4 WHERE 1 = 1", 1],
      ["INSERT INTO things (id, size) VALUES ('a', 9) ON CONFLICT DO NOTHING", 0],
      [
        "INSERT INTO things (id, size) VALUES ('a', 5) ON CONFLICT (id) DO UPDATE SET size = excluded.size",
        1,
      ],
      ["UPDATE things SET size = size + 10", 4],
      ["UPDATE things SET size = 1 WHERE id = 'nothing'", 0],
      [
        "WITH few AS (SELECT id FROM things WHERE id < 'c') UPDATE things SET size = -size WHERE id IN (SELECT id FROM few)",
        2,
      ],
      [
        "\n  WITH given (id) AS (VALUES ('x'), ('y')) INSERT INTO things (id) SELECT id FROM given",
        2,
      ],
      ["DELETE FROM things WHERE id IN ('x', 'y', 'z')", 2],
    ];
    for (const [sql, count] of counts) expect(await run(sql), sql).to.equal(count);
    expect(await run("DELETE FROM things WHERE id = $1", ["a"])).to.equal(1);
  });

  it("returns the rows of a change", async () => {
    await run("INSERT INTO things (id, size) VALUES ('a', 1), ('b', 2)");
    expect(await all("UPDATE things SET size = 3 WHERE id = $1 RETURNING id", ["a"])).to.deep.equal(
      [{ id: "a" }],
    );
    expect(await all("UPDATE things SET size = 3 WHERE id = 'z' RETURNING id")).to.deep.equal([]);
    expect(await all("DELETE FROM things WHERE id = 'b' RETURNING id")).to.deep.equal([
      { id: "b" },
    ]);
    expect(
      await all("/* rows */ INSERT INTO things (id, size) VALUES ($1, 7), ($2, 8) RETURNING id", [
        "c",
        "d",
      ]),
    ).to.deep.equal([{ id: "c" }, { id: "d" }]);
    expect(
      await all(
        "/* rows */ INSERT INTO things (id) VALUES ('c') ON CONFLICT DO NOTHING RETURNING id",
      ),
    ).to.deep.equal([]);
    expect(
      await all(
        "WITH given (id) AS (VALUES ('e')) INSERT INTO things (id) SELECT id FROM given RETURNING id",
      ),
    ).to.deep.equal([{ id: "e" }]);
    expect((await all("SELECT id FROM things ORDER BY id")).map(({ id }) => id)).to.deep.equal([
      "a",
      "c",
      "d",
      "e",
    ]);
  });

  it("wraps the driver's error, and adds the statement and its values, which are removed", async () => {
    await run("INSERT INTO things (id, size) VALUES ('secret', 1)");
    const failing = [
      "INSERT INTO things (id, size) VALUES ($1, 2)",
      "INSERT INTO parts (id, thing) VALUES ($1, 'none')",
      "INSERT INTO things (id, size) VALUES ($1, 9007199254740994)",
      "SELECT wrong FROM things WHERE id = $1",
      "SELEKT $1",
    ];
    for (const sql of failing) {
      const error = await failure(run(sql, ["secret"]));
      expect(error, sql).to.be.instanceOf(Error).and.to.have.property("parent");
      expect(error?.sql, sql).to.equal(sql);
      const plain = driverError(error);
      expect(plain, sql).to.equal(error?.parent);
      expect(inspect({ ...(plain as object) }), sql).not.to.contain(sql.slice(0, 20));
      expect(plain).not.to.have.any.keys("sql", "parameters");
      expect(plain).to.have.property("code");
    }
    const unique = await failure(run("INSERT INTO things (id, size) VALUES ('other', 1)"));
    expect(unique).to.be.instanceOf(UniqueConstraintError);
    const check = await failure(run("UPDATE things SET size = 9007199254740994"));
    expect(check).to.be.instanceOf(Error).and.to.have.property("parent");
    expect(await failure(all("SELECT wrong FROM things"))).to.be.instanceOf(DatabaseError);
    const foreign = new TypeError("not the driver's");
    expect(driverError(foreign)).to.equal(foreign);
  });

  it("refuses a number without a value", async () => {
    expect(await failure(all("SELECT $2 AS two", ["one"]))).to.match(/has no value/);
  });

  it("tells when a statement is sent, and logs it nowhere else", async () => {
    const seen: string[] = [];
    const rows = sequelize.query("SELECT 1 AS one", {
      type: QueryTypes.SELECT,
      logging: (text) => seen.push(text),
    });
    await rows;
    expect(seen).to.have.length(1);
  });

  return { all, run, of: () => sequelize };
}

describe("Sequelize on SQLite", () => {
  let folder: string;
  let storage: string;

  async function open() {
    folder = await mkdtemp(join(tmpdir(), "till-sequelize-"));
    storage = join(folder, "till.db");
    await writeFile(storage, "");
    const sequelize = connection();
    return {
      sequelize,
      async close() {
        await sequelize.close();
        await rm(folder, { recursive: true });
      },
    };
  }
  const connection = () =>
    new Sequelize({
      ...options,
      dialect: "sqlite",
      storage,
      dialectOptions: { mode: sqlite3.OPEN_READWRITE },
    });
  const { all, run } = conforms(open);

  it("keeps the NUL of a text", async () => {
    const [row] = await all("SELECT length(CAST($1 AS BLOB)) AS bytes, $1 AS text", ["a\0b"]);
    expect(row).to.deep.equal({ bytes: 3, text: "a\0b" });
  });

  it("returns no rows of a statement that begins with INSERT INTO, though it runs it", async () => {
    const error = await failure(all("INSERT INTO things (id) VALUES ('a') RETURNING id"));
    expect(error).to.be.instanceOf(TypeError);
    expect(await all("SELECT id FROM things")).to.deep.equal([{ id: "a" }]);
  });

  it("names the columns of a violated index", async () => {
    await run("INSERT INTO things (id, size) VALUES ('a', 1)");
    const error = await failure(run("INSERT INTO things (id, size) VALUES ('b', 1)"));
    expect(error?.parent).to.include({ code: "SQLITE_CONSTRAINT" });
    expect(error?.parent.message).to.equal(
      "SQLITE_CONSTRAINT: UNIQUE constraint failed: things.size",
    );
  });

  it("runs the statements of a transaction on its one connection, in order", async () => {
    await all("BEGIN IMMEDIATE");
    await run("INSERT INTO things (id) VALUES ('a')");
    await all("SAVEPOINT one");
    await run("INSERT INTO things (id) VALUES ('b')");
    await all("ROLLBACK TO one");
    await all("RELEASE one");
    await all("COMMIT");
    const statements = Array.from({ length: 50 }, (_, place) =>
      run("UPDATE things SET size = coalesce(size, 0) * 2 + $1", [place % 2]),
    );
    const counts = await Promise.all([
      ...statements,
      all("SELECT id, size % 4 AS rest FROM things"),
    ]);
    expect(counts.at(-1)).to.deep.equal([{ id: "a", rest: 1 }]);
    expect(await all("PRAGMA foreign_keys")).to.deep.equal([{ foreign_keys: 1 }]);
    expect(await all("PRAGMA busy_timeout = 0")).to.deep.equal([{ timeout: 0 }]);
  });

  it("fails at once, without trying again, if another connection has the lock", async () => {
    const other = connection();
    await other.query("BEGIN IMMEDIATE");
    await all("PRAGMA busy_timeout = 0");
    const error = await failure(all("BEGIN IMMEDIATE"));
    expect(error?.parent).to.include({ code: "SQLITE_BUSY" });
    await other.query("COMMIT");
    await all("BEGIN IMMEDIATE");
    await all("ROLLBACK");
    await other.close();
  });

  it("reports a file that cannot be opened, and a connection without permission to write", async () => {
    const lost = new Sequelize({
      ...options,
      dialect: "sqlite",
      storage: join(folder, "none", "till.db"),
      dialectOptions: { mode: sqlite3.OPEN_READWRITE },
    });
    const error = await failure(lost.authenticate());
    expect(error).to.be.instanceOf(ConnectionError);
    expect(driverError(error)).to.include({ code: "SQLITE_CANTOPEN" });
    await all("PRAGMA query_only = ON");
    expect(driverError(await failure(run("DELETE FROM things")))).to.include({
      code: "SQLITE_READONLY",
    });
  });
});

describeOnPostgres("Sequelize on PostgreSQL", () => {
  async function open() {
    const url = await freshDatabase();
    const sequelize = new Sequelize(url, { ...options, dialect: "postgres", pool: { max: 2 } });
    return {
      sequelize,
      async close() {
        await sequelize.close();
        await dropDatabase(url);
      },
    };
  }
  const { all, run, of } = conforms(open);

  it("replaces the NUL of a text, so that it must never be given one", async () => {
    expect(await all("SELECT CAST($1 AS TEXT) AS text", ["a\0b"])).to.deep.equal([
      { text: "a\\0b" },
    ]);
  });

  it("halves two dollars if values are bound, and leaves them alone otherwise", async () => {
    expect(await all("SELECT $$it's$$ AS quoted")).to.deep.equal([{ quoted: "it's" }]);
    expect(await all("SELECT '$$' AS dollars, CAST($1 AS TEXT) AS a", ["a"])).to.deep.equal([
      { dollars: "$", a: "a" },
    ]);
  });

  it("names the violated index and its table", async () => {
    await run("INSERT INTO things (id, size) VALUES ('a', 1)");
    const error = await failure(run("INSERT INTO things (id, size) VALUES ('b', 1)"));
    expect(error?.parent).to.include({ code: "23505", constraint: "things_size", table: "things" });
  });

  it("commits a managed transaction, rolls back a failing one, and a savepoint alone", async () => {
    const insert = (id: string, transaction: Transaction) =>
      of().query("INSERT INTO things (id) VALUES ($1)", {
        bind: [id],
        type: QueryTypes.BULKUPDATE,
        transaction,
      });
    await of().transaction(async (transaction) => {
      await insert("kept", transaction);
      await of()
        .transaction({ transaction }, async (inner) => {
          await insert("undone", inner);
          throw new Error("undo");
        })
        .catch(() => undefined);
    });
    const failed = await failure(
      of().transaction(async (transaction) => {
        await insert("lost", transaction);
        throw new Error("the function's own");
      }),
    );
    expect(failed?.message).to.equal("the function's own");
    expect(await all("SELECT id FROM things")).to.deep.equal([{ id: "kept" }]);
  });

  it("wraps timeouts and lost connections", async () => {
    await all("SELECT 1 AS one");
    const timeout = await failure(
      of().transaction(async (transaction) => {
        await of().query("SET LOCAL statement_timeout = '10ms'", { transaction });
        await of().query("SELECT pg_sleep(60)", { transaction });
      }),
    );
    expect(timeout?.parent).to.include({ code: "57014" });
    const lost = await failure(all("SELECT pg_terminate_backend(pg_backend_pid())"));
    expect(lost?.parent).to.include({ code: "57P01" });
  });
});

eachStore("errors of statements", (store) => {
  let db: Database;

  beforeEach(async () => {
    db = await store.open(await store.place("empty"));
    await createAccounts(db);
  });

  it("come for texts that Sequelize would change or not run", async () => {
    const refused = [
      db.write(testContext, (tx) => tx.run("-- all\nDELETE FROM test_accounts")),
      db.all("SELECT '$$' AS text, $1 AS value", ["a"]),
      db.all("SELECT '$name' AS text, $1 AS value", ["a"]),
    ];
    for (const error of await Promise.all(refused.map(failure))) {
      expect(error).to.be.instanceOf(Defect);
    }
  });

  it("never carry the values of a statement", async () => {
    const secret = "a-value-that-nobody-may-log";
    await db.write(testContext, (tx) =>
      tx.insert(accounts, account("a", { owner: "b", label: "c" })),
    );
    const failures = await Promise.all([
      failure(db.write(testContext, (tx) => tx.insert(accounts, account("a", { owner: secret })))),
      failure(
        db.write(testContext, (tx) => tx.run("UPDATE test_accounts SET balance = $1", [secret])),
      ),
      failure(
        db.write(testContext, (tx) => tx.run("UPDATE test_accounts SET nothing = $1", [secret])),
      ),
      failure(db.all("SELECT $1 AS value, nothing FROM test_accounts", [secret])),
      failure(
        db.all("SELECT CAST(label AS wrong) + $1 FROM test_accounts nothing WHERE (", [secret]),
      ),
    ]);
    for (const error of failures) {
      expect(error).to.be.instanceOf(Error);
      expect(inspect(error, { depth: 20, showHidden: true })).not.to.contain(secret);
    }
  });
});
