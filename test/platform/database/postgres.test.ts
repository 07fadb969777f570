import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { expect } from "chai";
import { openDatabase } from "../../../src/platform/database/open.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import { describeOnPostgres } from "../../support/store/describe-on-postgres.ts";
import {
  dropDatabase,
  freshDatabase,
  familyOf,
  startPostgres,
  type PostgresServer,
} from "../../support/store/postgres.ts";
import { testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { account, accounts, createAccounts, onlyAccount } from "./accounts.ts";

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error as Error,
  );

describeOnPostgres("a store on PostgreSQL", () => {
  let url: string;
  let db: Database;

  beforeEach(async () => {
    url = await freshDatabase();
    db = await openDatabase({ url });
    await createAccounts(db);
  });

  afterEach(async () => {
    await db.close();
    await dropDatabase(url);
  });

  const write = <T>(fn: (tx: Tx) => Promise<T>) => db.write(testContext, fn);

  it("retries a write after a deadlock", async () => {
    await write((tx) => tx.insertMany(accounts, [account("a"), account("b")]));
    let waiting = 2;
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => (meet = resolve));
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let runs = 0;
    const add = (tx: Tx, id: string) =>
      tx.run("UPDATE test_accounts SET version = version + 1 WHERE id = $1", [id]);
    const crosswise = async (first: string, second: string) => {
      await write(async (tx) => {
        runs += 1;
        // A retry begins when the other write has ended. Beside it, the two could deadlock again.
        if (runs > 2) await ended;
        await add(tx, first);
        waiting -= 1;
        if (waiting === 0) meet();
        await met;
        try {
          await add(tx, second);
        } catch {
          // A service that replaces the error must not prevent the retry.
          throw new Error("it went wrong");
        }
      });
      end();
    };
    await Promise.all([crosswise("a", "b"), crosswise("b", "a")]);
    expect(runs).to.equal(3);
    const versions = (await db.find(accounts, "")).map(({ version }) => version);
    expect(versions).to.deep.equal([2, 2]);
  });

  it("opens no more connections than it may, and serves more callers than that at once", async () => {
    const connections = 4;
    const opened = `SELECT COUNT(*) AS "count" FROM pg_stat_activity
      WHERE application_name IN ('till write', 'till read') AND datname = current_database()`;
    // Connections of the test's own store.
    const [own] = await db.all<{ count: number }>(opened);
    const held = own?.count ?? 0;
    const narrow = await openDatabase({ url, connections });
    try {
      let most = 0;
      const work = Array.from({ length: 40 }, async (_, place) => {
        const id = String(place);
        const [row] =
          place % 2 === 0
            ? await narrow.all<{ count: number }>(opened)
            : await narrow.write(testContext, async (tx) => {
                await tx.insert(accounts, account(id));
                return tx.all<{ count: number }>(opened);
              });
        most = Math.max(most, (row?.count ?? 0) - held);
      });
      await Promise.all(work);
      expect(most).to.be.within(2, connections);
    } finally {
      await narrow.close();
    }
  });

  it("retries a write after a serialization failure", async () => {
    await write((tx) => tx.insert(accounts, account("a")));
    await Promise.all(
      Array.from({ length: 8 }, () =>
        write(async (tx) => {
          await tx.run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
          const found = await tx.findOne(accounts, "WHERE id = $1", ["a"]);
          const version = (found?.version ?? 0) + 1;
          await tx.update(accounts, { version }, "WHERE id = $1", ["a"]);
        }),
      ),
    );
    expect((await onlyAccount(db)).version).to.equal(8);
  });

  it("refuses integers that exceed a JavaScript number, and keeps the connection", async () => {
    const error = await failure(db.all("SELECT CAST('9007199254740993' AS BIGINT) AS big"));
    expect(String(error)).to.contain("not below 2^53");
    expect(await db.all("SELECT CAST('-5' AS BIGINT) AS small")).to.deep.equal([{ small: -5 }]);
  });

  it("limits the time of a statement, a lock and an idle transaction", async () => {
    const names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
    for (const name of names) {
      const [row] = await write((tx) => tx.all("SELECT current_setting($1) AS value", [name]));
      expect(row?.["value"], name).to.match(/^\d+s$/);
    }
  });

  it("waits for the flush of each commit, also where the database has that off", async () => {
    const name = new URL(url).pathname.slice(1);
    for (const [given, used] of [
      ["off", "on"],
      ["remote_write", "remote_write"],
    ] as const) {
      await db.write(testContext, (tx) =>
        tx.run(`ALTER DATABASE ${name} SET synchronous_commit = ${given}`),
      );
      const other = await openDatabase({ url });
      try {
        const read = "SELECT current_setting('synchronous_commit') AS value";
        expect(await other.write(testContext, (tx) => tx.all(read))).to.deep.equal([
          { value: used },
        ]);
      } finally {
        await other.close();
      }
    }
  });

  it("reads while all write connections are in use", async () => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const writes = Array.from({ length: 40 }, () => write(() => held));
    expect(await db.find(accounts, "")).to.deep.equal([]);
    letGo();
    await Promise.all(writes);
  });

  it("never reports a COMMIT without an answer as done", async () => {
    const proxy = await commitEater(Number(new URL(url).port || 5432), new URL(url).hostname);
    const throughProxy = new URL(url);
    throughProxy.host = `127.0.0.1:${String(proxy.port)}`;
    const other = await openDatabase({ url: throughProxy.href });
    proxy.eatNext();
    const error = await failure(
      other.write(testContext, (tx) => tx.insert(accounts, account("a"))),
    );
    expect(error).to.include({ code: "store_unavailable", status: 503 });
    expect(error?.message).to.contain("may have been saved");
    // The commit did succeed this time, and the next write finds a connection again.
    await until(
      "the row",
      () => db.find(accounts, ""),
      (rows) => rows.length === 1,
    );
    await other.write(testContext, (tx) => tx.insert(accounts, account("b")));
    await other.close();
    await proxy.close();
  });

  it("survives a server that shuts down while a connection is being opened", async () => {
    const proxy = await connectionCutter(Number(new URL(url).port || 5432), new URL(url).hostname);
    const throughProxy = new URL(url);
    throughProxy.host = `127.0.0.1:${String(proxy.port)}`;
    const other = await openDatabase({ url: throughProxy.href });
    const add = (id: string) =>
      failure(other.write(testContext, (tx) => tx.insert(accounts, account(id))));
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await new Promise<void>((isIn) => {
      // Forces the next write to open a new connection.
      void other.write(testContext, () => (isIn(), held));
    });
    proxy.cutNext();
    expect(await add("cut")).to.include({ code: "store_unavailable", status: 503 });
    expect(await add("after")).to.equal(null);
    letGo();
    await other.close();
    await proxy.close();
  });
});

/** Returns the names and messages of an error and its causes. */
function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.name}: ${error.message}\n${reasonsOf(error.cause)}`;
}

describeOnPostgres("a store on a PostgreSQL that goes away", () => {
  let server: PostgresServer;
  let db: Database;

  before(async function () {
    if (process.env["TEST_DATABASE_URL"] !== undefined) this.skip();
    server = await startPostgres();
    db = await openDatabase({ url: server.url("postgres") });
    await createAccounts(db);
  });

  after(async () => {
    await db.close();
    await server.stop();
  });

  it("answers 503 because nobody listens, not after a timeout, discards open writes, and works again when the server is back", async () => {
    let isIn: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (isIn = resolve));
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const cut = failure(
      db.write(testContext, async (tx) => {
        await tx.insert(accounts, account("cut"));
        isIn();
        await held;
        await tx.insert(accounts, account("later"));
      }),
    );
    await Promise.all([inside, db.find(accounts, ""), db.find(accounts, "")]);
    await server.halt();
    letGo();
    expect(await cut).to.include({ code: "store_unavailable", status: 503 });

    for (let count = 0; count < 3; count += 1) {
      const write = db.write(testContext, (tx) => tx.insert(accounts, account("down")));
      for (const error of [await failure(write), await failure(db.find(accounts, ""))]) {
        expect(error).to.include({ code: "store_unavailable", status: 503 });
        expect(error).to.have.property("retryAfterSeconds").that.is.greaterThan(0);
        expect(reasonsOf(error))
          .to.match(/refused/i)
          .and.not.to.match(/time/i);
      }
    }

    await server.start();
    await db.write(testContext, (tx) => tx.insert(accounts, account("back")));
    expect((await onlyAccount(db)).id).to.equal("back");
  });

  it("answers 503 because a paused server is silent, not after a statement's timeout, and then works again", async () => {
    await db.find(accounts, "");
    const pids = familyOf(server.pid());
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    try {
      const write = db.write(testContext, (tx) => tx.insert(accounts, account("paused")));
      for (const error of await Promise.all([failure(write), failure(db.find(accounts, ""))])) {
        expect(error).to.include({ code: "store_unavailable", status: 503 });
        // The pulse has noticed the silence. No limit of a statement has ended the wait.
        expect(reasonsOf(error))
          .to.match(/does not answer/)
          .and.not.to.match(/timeout/i);
      }
    } finally {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    }
    await until(
      "the server",
      () => failure(db.find(accounts, "")),
      (error) => error === null,
    );
  });
});

/** A proxy to the server that, when armed, sends a shutdown error together with the answer to a connection request. */
async function connectionCutter(port: number, host: string) {
  const fields = ["SFATAL", "C57P01", "Mterminating connection due to administrator command", ""];
  const text = Buffer.from(`${fields.join("\0")}\0`, "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.byteLength + length.byteLength);
  const farewell = Buffer.concat([Buffer.from("E"), length, text]);
  let isArmed = false;
  const proxy: Server = createServer((client) => {
    const upstream = connect(port, host);
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      // The answer to a connection request begins with Authentication and ends with ReadyForQuery.
      if (isArmed && chunk.toString("latin1").startsWith("R")) {
        isArmed = false;
        client.end(Buffer.concat([chunk, farewell]));
        return;
      }
      client.write(chunk);
    });
    client.on("close", () => upstream.end());
    for (const socket of [client, upstream]) socket.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    cutNext: () => {
      isArmed = true;
    },
    close: () => new Promise((resolve) => proxy.close(resolve)),
  };
}

/** A proxy to the server that forwards one COMMIT and then closes the connection before the answer returns. */
async function commitEater(port: number, host: string) {
  let isArmed = false;
  const proxy: Server = createServer((client) => {
    const upstream = connect(port, host);
    upstream.pipe(client);
    client.on("data", (chunk) => {
      if (isArmed && chunk.includes("COMMIT")) {
        isArmed = false;
        upstream.unpipe(client);
        upstream.write(chunk, () => client.destroy());
        return;
      }
      upstream.write(chunk);
    });
    client.on("close", () => upstream.end());
    client.on("error", () => undefined);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    eatNext: () => {
      isArmed = true;
    },
    close: () => new Promise((resolve) => proxy.close(resolve)),
  };
}
