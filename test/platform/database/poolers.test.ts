// PgBouncer between Till and PostgreSQL, in each of its modes.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import pg from "pg";
import { openDatabase, openForReading } from "../../../src/platform/database/open.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { openNewPostgres } from "../../../src/platform/database/postgres/new-store.ts";
import { openSnapshot } from "../../../src/platform/database/transfer/rows.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { describeOnPostgres } from "../../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../../support/store/postgres.ts";
import { testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { account, accounts, createAccounts } from "./accounts.ts";

const silent = { warn: () => undefined, error: () => undefined };
const isMissing = spawnSync("pgbouncer", ["--version"]).error !== undefined;
const serverConnections = 6;

describeOnPostgres("a store behind PgBouncer", () => {
  let folder: string;
  let direct: string;
  let url: string;
  let pooler: ChildProcess;

  before(function () {
    if (!isMissing) return;
    if (process.env["TILL_TEST_NO_SKIP"] === "1") throw new Error("pgbouncer is not installed");
    this.skip();
  });

  async function startPooler(mode: string): Promise<void> {
    direct = await freshDatabase();
    folder = mkdtempSync(join(tmpdir(), "till-pgbouncer-"));
    chmodSync(folder, 0o755);
    const port = String(await freePort());
    const { hostname, port: serverPort, username, password, pathname } = new URL(direct);
    const database = pathname.slice(1);
    const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
    const file = join(folder, "pgbouncer.ini");
    writeFileSync(
      file,
      `[databases]
${database} = host=${hostname} port=${serverPort === "" ? "5432" : serverPort} user=${username}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${String(serverConnections)}
max_client_conn = 200
`,
    );
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    pooler = spawn("pgbouncer", ["-q", file], { ...user, stdio: "ignore" });
    endWithThisProcess(pooler);
    url = `postgres://${username}@127.0.0.1:${port}/${database}`;
    await until(
      "the pooler",
      async () => {
        const client = new pg.Client({ connectionString: url });
        client.on("error", () => undefined);
        return client.connect().then(
          () => client.end().then(() => true),
          () => false,
        );
      },
      (answers) => answers,
    );
  }

  afterEach(async () => {
    if (isMissing) return;
    pooler.kill("SIGKILL");
    if (pooler.exitCode === null && pooler.signalCode === null) await once(pooler, "exit");
    await dropDatabase(direct);
    rmSync(folder, { recursive: true, force: true });
  });

  async function openCounting(connections: number) {
    const said: string[] = [];
    const logger = { ...silent, warn: (_: object, text: string) => said.push(text) };
    return { db: await openDatabase({ url, connections, logger }), said };
  }

  it("in transaction mode keeps its settings in each transaction, and says what to change", async () => {
    await startPooler("transaction");
    // More connections than the pooler has to the server, so that these change their clients.
    const { db, said } = await openCounting(16);
    try {
      expect(said.join()).to.include("PgBouncer").and.to.include("pool_mode = session");
      await createAccounts(db);
      const state = `SELECT current_setting('lock_timeout') AS "lock", current_setting('jit') AS "jit",
        current_setting('transaction_read_only') AS "readOnly"`;
      const states = await Promise.all(
        Array.from({ length: 80 }, (_, place) =>
          place % 2 === 0
            ? db.all(`${state}, $1 AS "place"`, [place])
            : db.write(testContext, async (tx) => {
                await tx.insert(accounts, account(String(place)));
                return tx.all(`${state}, $1 AS "place"`, [place]);
              }),
        ),
      );
      states.flat().forEach((one, place) => {
        const readOnly = place % 2 === 0 ? "on" : "off";
        expect(one).to.deep.equal({ lock: "15s", jit: "off", readOnly, place: String(place) });
      });
      expect(await db.find(accounts, "")).to.have.length(40);
      const change = await db
        .all("INSERT INTO test_accounts DEFAULT VALUES")
        .then(() => "changed", String);
      expect(change).to.include("outside db.write");
    } finally {
      await db.close();
    }
    // Other programs that use the same pooler find none of Till's settings.
    const others = Array.from({ length: serverConnections }, () => {
      const client = new pg.Client({ connectionString: url });
      return client.connect().then(() => client);
    });
    const clients = await Promise.all(others);
    const found = await Promise.all(
      clients.map((client) =>
        client.query<{ ro: string }>(
          "SELECT current_setting('default_transaction_read_only') || current_setting('lock_timeout') AS ro, pg_sleep(0.05)",
        ),
      ),
    );
    await Promise.all(clients.map((client) => client.end()));
    expect(new Set(found.map(({ rows }) => rows[0]?.ro))).to.deep.equal(new Set(["off0"]));
  });

  it("in transaction mode repeats a read whose transaction is lost at its end", async () => {
    await startPooler("transaction");
    const { hostname, port } = new URL(url);
    let eats = "";
    let eaten = 0;
    const between = createServer((client) => {
      const server = connect(Number(port), hostname);
      server.pipe(client);
      client.on("data", (data) => {
        if (eats !== "" && data.includes(eats)) {
          eats = "";
          eaten += 1;
          client.destroy();
        } else server.write(data);
      });
      client.on("error", () => undefined).on("close", () => server.destroy());
      server.on("error", () => undefined).on("close", () => client.destroy());
    });
    await once(between.listen(0, "127.0.0.1"), "listening");
    const through = new URL(url);
    through.port = String((between.address() as AddressInfo).port);
    const db = await openDatabase({ url: through.href, connections: 4, logger: silent });
    try {
      eats = "COMMIT";
      expect(await db.all("SELECT 2 AS two")).to.deep.equal([{ two: 2 }]);
      expect(eaten).to.equal(1);
    } finally {
      await db.close();
      between.close();
    }
  });

  it("in transaction mode is migrated, read, copied as one snapshot, and restored, one restore at a time", async () => {
    await startPooler("transaction");
    const { db } = await openCounting(8);
    await migrate(db, systemClock);
    const snapshot = await openSnapshot({ url });
    const count = "SELECT COUNT(*) AS count FROM schema_versions";
    const before = await snapshot.all(count);
    await db.write(testContext, (tx) =>
      tx.run("INSERT INTO schema_versions (version, name, applied_at) VALUES (0, 'later', 0)"),
    );
    expect(await snapshot.all(count)).to.deep.equal(before);
    await snapshot.close();
    const reader = await openForReading({ url });
    expect(reader.pending).to.deep.equal([]);
    await reader.close();
    await db.close();
    const draft = await openNewPostgres(url, silent);
    const second = await openNewPostgres(url, silent).catch(String);
    expect(second).to.include("Another restore");
    await migrate(draft.db, systemClock);
    const kept = await draft.replace(
      "test",
      () => Promise.resolve(),
      () => Promise.resolve(),
    );
    await draft.discard();
    expect(kept).to.equal("the schema till_before_restore_test");
    const restored = await openForReading({ url: direct });
    expect(restored.pending).to.deep.equal([]);
    await restored.close();
  });

  it("in session mode works as without it", async () => {
    await startPooler("session");
    const { db, said } = await openCounting(3);
    try {
      expect(said).to.deep.equal([]);
      await createAccounts(db);
      await db.write(testContext, (tx) => tx.insert(accounts, account("a")));
      expect(await db.find(accounts, "")).to.have.length(1);
    } finally {
      await db.close();
    }
  });

  it("in statement mode is refused, with the setting to change", async () => {
    await startPooler("statement");
    const refused = await openCounting(3).then(
      () => "opened",
      (error: unknown) => String(error),
    );
    expect(refused).to.include("allows no transactions").and.to.include("pool_mode");
  });
});
