import { expect } from "chai";
import { openStore } from "../../src/compose/store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { loadConfig } from "../../src/platform/config/index.ts";
import { openDatabase } from "../../src/platform/database/index.ts";
import { applyMigrations } from "../../src/platform/database/schema/migrate.ts";
import { migrations } from "../../src/platform/database/schema/migrations/index.ts";
import { leases } from "../../src/platform/jobs/table.ts";
import { createLogger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/random.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../support/store/postgres.ts";
import { secret } from "../support/secret.ts";
import { testContext } from "../support/store/stores.ts";

describeOnPostgres("opening a store that is behind", () => {
  it("warns of the leases of a server that still runs, and of none that has ended", async () => {
    const url = await freshDatabase();
    const warnings: unknown[] = [];
    const logger = createLogger({
      level: "warn",
      destination: {
        write(line) {
          warnings.push((JSON.parse(line) as { leases: unknown }).leases);
        },
      },
    });
    const open = async () => {
      const env = { DATABASE_URL: url, TILL_SECRET: secret };
      const { config } = await loadConfig({ mode: "cli", env });
      const randomBytes = systemRandom;
      const store = await openStore(config, "migrate", { clock: systemClock, logger, randomBytes });
      await store.db.close();
      return store.migrations.length;
    };
    try {
      const db = await openDatabase({ url, logger });
      await applyMigrations(db, systemClock, migrations.slice(0, 2));
      const now = systemClock.now();
      await db.write(testContext, async (tx) => {
        const own = { holder: "prc_old", token: 1 };
        await tx.insert(leases, { ...own, name: "watch tron", until: now + 60_000 });
        await tx.insert(leases, { ...own, name: "relay", until: now - 1 });
      });
      await db.close();
      expect(await open()).to.equal(migrations.length - 2);
      expect(warnings).to.deep.equal([["watch tron"]]);
      expect(await open()).to.equal(0);
      expect(warnings).to.have.length(1);
    } finally {
      await dropDatabase(url);
    }
  });
});
