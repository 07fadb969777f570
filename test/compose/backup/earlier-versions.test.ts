// Stores and backups of earlier versions, with every kind of row that the operations of the API make, are taken over.
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { brokenChecks } from "../../../src/compose/backup/make-backup.ts";
import { openStore } from "../../../src/compose/store.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { currentVersion } from "../../../src/platform/database/schema/migrate.ts";
import { newestVersion } from "../../../src/platform/database/schema.ts";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import { migrations } from "../../../src/platform/database/schema/migrations/index.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { xpubOf } from "../../support/merchants.ts";
import { serverSecret } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { configOf, fill, neverAborted, restore, rowsOf, usePlaces } from "./backups.ts";

/** The levels of the backups, each of which its own program made after a call of every operation. */
const levels = [33, 49];

const none = "0".repeat(78);

/** Rows of the tables that the calls leave empty. */
const otherRows: readonly string[] = [
  "cron_runs (task, scheduled_at) VALUES ('prune', 1)",
  `jobs (id, queue, name, payload, state, run_at, attempts, max_attempts, failed_reason, failed_at, created_at)
   VALUES ('job_1', 'mail', 'send', '{}', 'failed', 1, 5, 5, 'refused', 2, 1)`,
  `idempotency_keys (claim, fingerprint, status, body, is_sealed, created_at)
   VALUES ('claim', 'fingerprint', 201, '{}', 0, 1)`,
  `rate_book (id, pairs, updated_at) VALUES (1, '{}', 1)`,
  `server_probes (server, checked_at, report) VALUES ('prc_1', 1, '{}')`,
  `network_providers (network, place, health, written_at) VALUES ('tron', 0, '{}', 1)`,
  `network_alarms (network, kind, subject, message, raised_at, ended_at)
   VALUES ('tron', 'stalled', '', 'no new block', 1, 2)`,
  `webhook_attempts (delivery_id, number, started_at, duration_ms)
   SELECT id, 1, 1, 1 FROM webhook_deliveries ORDER BY id LIMIT 1`,
  `figures (organization_id, measure, grain, starts_at, currency, subject, items, sign, amount)
   SELECT id, 'volume', 'day', 0, 'USD', '', 0, 1, '${none}' FROM organizations ORDER BY id LIMIT 1`,
  `platform_invoice_twins (twin_id, platform_invoice_id, created_at)
   SELECT 'inv_twin', id, 1 FROM platform_invoices ORDER BY id LIMIT 1`,
  `credit_applications (credit_id, platform_invoice_id, amount)
   SELECT credits.id, platform_invoices.id, '${none}' FROM credits, platform_invoices LIMIT 1`,
  `discount_uses (discount_id, platform_invoice_id, amount)
   SELECT discounts.id, platform_invoices.id, '${none}' FROM discounts, platform_invoices LIMIT 1`,
  `half_full_bands (network, address, token, price, most, places, organization_id, warned_at)
   SELECT 'tron', 'T', 'USDT', '${none}', '${none}', 1, id, 1 FROM organizations ORDER BY id LIMIT 1`,
  "network_gaps (network, from_height, to_height, refusals) VALUES ('tron', 1, 2, '{}')",
  `organization_logos (name, organization_id, image)
   SELECT 'logo', id, 'data:' FROM organizations ORDER BY id LIMIT 1`,
];

/** The checks by level that fail because rows of the billing, and some of those above, were written by hand. */
const writtenByHand: Readonly<Record<number, readonly string[]>> = {
  33: ["billing.taken", "discounts.uses", "subscriptions.period"],
  49: ["billing.taken", "discounts.uses"],
};

async function addOthers(place: StoreOptions): Promise<void> {
  const db = await openDatabase(place);
  const rows = await rowsOf(place, await currentVersion(db));
  await db.write(testContext, async (tx) => {
    for (const insert of otherRows) {
      const [table = ""] = insert.split(" ");
      if (rows[table]?.length === 0) await tx.run(`INSERT INTO ${insert}`);
    }
  });
  await db.close();
}

eachStore("a store of an earlier version", (store) => {
  const places = usePlaces();

  for (const level of levels) {
    it(`opens, verifies and goes on if it has level ${String(level)}`, async () => {
      const file = fileURLToPath(new URL(`made-at-level/${String(level)}.tar`, import.meta.url));
      const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
      const { migration } = await restore(file, place, { migrates: false, verifies: false });
      expect(migration).to.equal(level);
      await addOthers(place);
      const before = await rowsOf(place, level);
      const empty = Object.keys(before).filter((table) => before[table]?.length === 0);
      expect(empty).to.deep.equal([]);

      const config = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
      const deps = { clock: systemClock, randomBytes: systemRandom, logger: silentLogger };
      const { db, migrations: applied } = await openStore(config, "migrate", deps);
      expect(applied.map(({ version }) => version)).to.deep.equal(
        migrations.map(({ version }) => version).filter((version) => version > level),
      );
      const broken = await brokenChecks(db, serverSecret, neverAborted);
      expect(broken.map(({ check }) => check.name)).to.have.members(writtenByHand[level] ?? []);
      await db.close();
      const after = await rowsOf(place, newestVersion);
      for (const [table, rows] of Object.entries(before)) {
        if (table !== "schema_versions") expect(after[table], table).to.have.length(rows.length);
      }
      await fill(place, xpubOf(77));
    });

    it(`is restored and migrated from a backup of level ${String(level)}`, async () => {
      const file = fileURLToPath(new URL(`made-at-level/${String(level)}.tar`, import.meta.url));
      const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
      expect((await restore(file, place, { verifies: false })).migration).to.equal(newestVersion);
      await fill(place, xpubOf(77));
    });
  }

  it("gives way to a backup if its first migration did not begin", async () => {
    const file = fileURLToPath(new URL("made-at-level/49.tar", import.meta.url));
    const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
    const db = await openDatabase(place);
    await db.write(testContext, (tx) =>
      tx.run("CREATE TABLE schema_versions (version INTEGER, name TEXT, applied_at BIGINT)"),
    );
    await db.close();
    const { newLife, migration } = await restore(file, place, { verifies: false });
    expect(migration).to.equal(newestVersion);
    expect(newLife?.keys.map(({ isRevokedSince }) => isRevokedSince)).to.include(null);
  });
});
