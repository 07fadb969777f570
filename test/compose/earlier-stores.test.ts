// Stores and backups from before version 0.2 are refused by every command, and stay as they are.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "chai";
import pg from "pg";
import { systemClock } from "../../src/kernel/clock.ts";
import { openDatabase, type StoreOptions } from "../../src/platform/database/open.ts";
import { applyMigrations } from "../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../src/platform/database/schema/migrations/index.ts";
import { initWords, password, till } from "../support/programs/till.ts";
import { secret } from "../support/secret.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { back, usePlaces } from "./backup/backups.ts";

/** Returns the bytes of a SQLite store, or all rows of PostgreSQL's, which no part of the program opens any more. */
async function contentOf(place: StoreOptions): Promise<string> {
  if (!("url" in place)) return (await readFile(place.sqliteFile)).toString("base64");
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ content: string }>(
      `SELECT coalesce(string_agg(query_to_xml(format('SELECT * FROM %I', tablename), true, true, '')::text, ''
         ORDER BY tablename), '') AS content FROM pg_tables WHERE schemaname = 'public'`,
    );
    return rows[0]?.content ?? "";
  } finally {
    await client.end();
  }
}

eachStore("a store from before version 0.2", (store) => {
  const places = usePlaces();

  /** Creates a store that says that it has an earlier level. */
  async function earlier(): Promise<StoreOptions> {
    const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
    const db = await openDatabase(place);
    await applyMigrations(db, systemClock, migrations.slice(0, 1));
    await db.write(testContext, (tx) => tx.run("DELETE FROM schema_versions WHERE version > 20"));
    await db.close();
    return place;
  }

  it("is refused by every command in words that name the version to go through, and stays unchanged", async () => {
    const [place, folder] = [await earlier(), await places.folder()];
    const dataDir = "url" in place ? folder : dirname(place.sqliteFile);
    const env = {
      TILL_DATA_DIR: dataDir,
      TILL_SECRET: secret,
      TILL_NETWORKS: "sandbox",
      TILL_SANDBOX_MIXED: "1",
      TILL_PORT: "0",
      ...("url" in place ? { DATABASE_URL: place.url } : {}),
    };
    const other = await places.sqlite();
    const fresh = await openDatabase(other);
    await applyMigrations(fresh, systemClock, migrations);
    await fresh.close();
    const file = join(folder, "good.tar");
    await back(other, file, { verify: "no" });
    const content = await contentOf(place);
    for (const words of [
      ["serve"],
      initWords,
      ["db", "migrate"],
      ["db", "migrate", "--plan"],
      ["db", "verify"],
      ["backup"],
      ["restore", file, "--yes"],
      ["db", "copy", "--to", join(folder, "copy"), "--yes"],
      ["ops", "status"],
      ["org", "list"],
    ]) {
      const { code, stderr } = await till([...words, "--json"], { env, stdin: `${password}\n` });
      const told = JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as object;
      expect(told, words.join(" ")).to.include({ code: "store_too_old", status: 409 });
      expect(told).to.have.property("detail").that.includes("version 20").and.includes("Till 0.2");
      expect(code, words.join(" ")).to.equal(6);
      expect(await contentOf(place), words.join(" ")).to.deep.equal(content);
    }
    const { stdout } = await till(["doctor", "--json"], { env });
    expect(stdout).to.include("The store has version 20").and.to.include("Till 0.2");
    expect(await contentOf(place)).to.deep.equal(content);
  });
});
