// `till backup`, `till restore` and `till db copy` as operators run them: what they print, refuse, and leave when killed.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { lockDataFolder } from "../../../src/cli/single-server.ts";
import { newestVersion } from "../../../src/platform/database/schema.ts";
import {
  openDatabase,
  openForReading,
  type ReadOnlyDatabase,
  type StoreOptions,
} from "../../../src/platform/database/open.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { leases } from "../../../src/platform/jobs/table.ts";
import { rowsOf, usePlaces } from "../../compose/backup/backups.ts";
import { init, till, useProcesses, type Outcome } from "../../support/programs/till.ts";
import { secret } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

type Env = Readonly<Record<string, string>>;

eachStore("backing up by commands", (store) => {
  const places = usePlaces();
  const processes = useProcesses();

  /** Creates an installation on a new place. */
  async function install(): Promise<{ folder: string; env: Env; place: StoreOptions }> {
    const folder = await places.folder();
    const place =
      store.dialect === "sqlite"
        ? { sqliteFile: join(folder, "till.db") }
        : await places.postgres();
    const env = {
      TILL_DATA_DIR: folder,
      TILL_RATES: "off",
      ...("url" in place ? { DATABASE_URL: place.url, TILL_SECRET: secret } : {}),
    };
    const made = await init([], { env });
    expect(made.code, made.stderr).to.equal(0);
    return { folder, env, place };
  }

  async function done(running: Promise<Outcome>): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await running;
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it("says what a backup contains, and restores it over the store and into an empty place", async () => {
    const { folder, env } = await install();
    const made = await done(till(["backup", "--json"], { env }));
    const path = String(made["path"]);
    expect(path).to.match(/\/backups\/till-backup-[0-9a-z]{8}-\d{8}T\d{9}Z\.tar$/);
    expect(made).to.include({ migration: newestVersion, containsSecret: false, verified: "store" });
    const status = await till(["ops", "status", "--probe", "--json"], { env });
    expect(JSON.parse(status.stdout)).to.nested.include({
      "infrastructure.checks.backup": "ok",
      "infrastructure.messages.backup": "The newest backup is 0 h old.",
    });

    const named = join(folder, "with secret.tar");
    const shown = await till(["backup", named, "--with-secret", "--no-verify"], { env });
    expect(shown.stdout)
      .to.match(/Secret +included/)
      .and.match(/Verified +no \(--no-verify\)/);
    expect((await till(["backup", named], { env })).code).to.equal(6);

    const asked = await till(["restore", path], { env });
    expect([asked.code, asked.stderr]).to.deep.equal([
      2,
      "Give --yes. Without a terminal, the program cannot ask. Nothing was changed.\n",
    ]);
    const restored = await done(till(["restore", path, "--yes", "--json"], { env }));
    expect(restored).to.include({ instance: made["instance"], verified: true });
    expect(restored["formerStore"]).to.match(/before.restore.\d{8}t\d{9}z$/);
    expect((await till(["db", "verify", "--quiet"], { env })).code).to.equal(0);
    const head = String(made["auditHead"]);
    expect((await till(["audit", "verify", "--head", head], { env })).code).to.equal(0);

    const other = await places.folder();
    const target = join(other, "new");
    const brought = await done(till(["restore", named, "--json", "--data-dir", target]));
    expect(brought).to.include({ broughtSecret: true, formerStore: null });
    expect((await till(["db", "verify", "--quiet", "--data-dir", target])).code).to.equal(0);
  });

  it("refuses what would harm a store, each with its exit code", async () => {
    const { folder, env, place } = await install();
    const path = (await till(["backup", "-q", "--no-verify"], { env })).stdout.trim();
    const before = await rowsOf(place, newestVersion);
    const refuse = async (words: readonly string[], code: number, says: string, more: Env = {}) => {
      const outcome = await till([...words, "--yes"], { env: { ...env, ...more } });
      expect(outcome.stderr).to.include(says);
      expect(outcome.code, outcome.stderr).to.equal(code);
    };

    const altered = join(folder, "altered.tar");
    const bytes = await readFile(path);
    bytes[bytes.length / 2] = (bytes[bytes.length / 2] ?? 0) ^ 1;
    await writeFile(altered, bytes);
    await refuse(["restore", altered], 2, "not a complete, unaltered backup");
    await refuse(["restore", join(folder, "none.tar")], 5, "does not exist");
    await refuse(["restore", path], 78, "does not belong to the backup", {
      TILL_SECRET: "another secret, which is also more than long enough",
    });
    const other = await install();
    const foreign = (await till(["backup", "-q", "--no-verify"], { env: other.env })).stdout.trim();
    await refuse(["restore", foreign], 6, "--force-other-instance");
    await refuse(["restore", "-"], 2, "cannot be a stream");
    await refuse(["backup", "-"], 2, "cannot be a stream");
    await refuse(["db", "copy", "--to", "-"], 2, "cannot be a stream");
    await refuse(["restore"], 2, "issing required argument");
    await refuse(["db", "copy"], 2, "--to");
    await refuse(["db", "copy", "--to", "mysql://host/x"], 2, "postgres://");
    await refuse(["db", "copy", "--to", folder.replace(/$/, "-new")], 0, "");
    await rm(`${folder}-new`, { recursive: true });
    const target = "url" in other.place ? other.place.url : other.folder;
    await refuse(["db", "copy", "--to", target], 6, "contains a store");

    const lock = await serve(place, folder);
    await refuse(["restore", path], 6, store.dialect === "sqlite" ? "process" : "holds relay");
    await refuse(["db", "copy", "--to", join(folder, "b")], 6, "server");
    await lock.end();
    const after = await rowsOf(place, newestVersion);
    expect({ ...after, meta: [] }).to.deep.equal({ ...before, meta: [] });
    expect((await readdir(folder)).filter((name) => name.includes("restoring"))).to.deep.equal([]);
  });

  /** Pretends that a server runs. */
  async function serve(place: StoreOptions, folder: string): Promise<{ end(): Promise<void> }> {
    if (!("url" in place)) {
      const lock = await lockDataFolder(folder);
      return { end: () => lock.leave() };
    }
    const db = await openDatabase(place);
    const until = Date.now() + 9 * minute;
    await db.write(testContext, (tx) =>
      tx.insert(leases, { name: "relay", holder: "prc_other", token: 1, until }),
    );
    return {
      async end() {
        await db.write(testContext, (tx) => tx.run("DELETE FROM leases"));
        await db.close();
      },
    };
  }

  it("leaves the store whole if it is killed, and works the next time", async () => {
    const { folder, env, place } = await install();
    const path = (await till(["backup", "-q", "--no-verify"], { env })).stdout.trim();
    const before = await rowsOf(place, newestVersion);
    const copies = join(folder, "copies");
    await mkdir(copies);

    const killed = async (words: readonly string[], hasBegun: () => Promise<boolean> | boolean) => {
      const running = processes.start(words, env);
      const { child } = running;
      const ended = running.exit();
      while (child.exitCode === null && !(await hasBegun())) await delay(1);
      child.kill("SIGKILL");
      await ended;
      expect(await rowsOf(place, newestVersion)).to.deep.equal(before);
    };
    const hasDraft =
      "url" in place
        ? await watchSchema(place)
        : () => existsSync(join(folder, "till.db.restoring"));
    const stopped = processes.start(["restore", path, "--yes"], env);
    while (!(await hasDraft()) && stopped.child.exitCode === null) await delay(1);
    stopped.child.kill("SIGINT");
    expect(await stopped.exit()).to.deep.equal({ code: 130, signal: null });
    expect(stopped.stderr()).to.include("Nothing was changed.");
    expect(await rowsOf(place, newestVersion)).to.deep.equal(before);
    expect(await hasDraft()).to.equal(false);

    await killed(["backup", `${copies}/`], async () => (await readdir(copies)).length > 0);
    await killed(["restore", path, "--yes"], hasDraft);
    const target = join(folder, "target");
    await killed(["db", "copy", "--to", target], () =>
      existsSync(join(target, "till.db.restoring")),
    );

    expect((await till(["backup", `${copies}/`, "-q", "--no-verify"], { env })).code).to.equal(0);
    const restored = await till(["restore", path, "--yes"], { env });
    expect(restored.code, restored.stderr).to.equal(0);
    expect(await readdir(target)).not.to.include("till.db");
  });

  let watching: ReadOnlyDatabase | undefined;
  afterEach(async () => {
    await watching?.close();
    watching = undefined;
  });

  /** Returns a function that tells, by one connection, whether the draft of a restore exists in a database. */
  async function watchSchema(place: { readonly url: string }): Promise<() => Promise<boolean>> {
    const db = await openForReading(place);
    watching = db;
    const sql = "SELECT 1 AS found FROM pg_namespace WHERE nspname = 'till_restoring'";
    return async () => (await db.all(sql)).length > 0;
  }

  if (store.dialect === "sqlite") {
    it("replaces a store that cannot be read, and keeps it", async () => {
      const { folder, env } = await install();
      const path = (await till(["backup", "-q", "--no-verify"], { env })).stdout.trim();
      await writeFile(join(folder, "till.db"), Buffer.alloc(8_192, "damaged"));
      const { code, stderr } = await till(["restore", path, "--yes"], { env });
      expect(code, stderr).to.equal(0);
      expect((await till(["db", "verify", "-q"], { env })).code).to.equal(0);
      const kept = (await readdir(folder)).filter((name) => name.includes("before-restore"));
      expect(kept).to.have.length(1);
      expect(String(await readFile(join(folder, kept[0] ?? "")))).to.match(/^damaged/);
    });
  }
});
