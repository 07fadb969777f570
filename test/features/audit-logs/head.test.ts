// The head of the audit chain leaves the store once an hour, and a store of a release without keyed seals is taken over.
import { dirname } from "node:path";
import { expect } from "chai";
import { verifyAuditLog } from "../../../src/features/audit-logs/audit-logs.ts";
import { addOrganization } from "../../../src/features/organizations/organizations.ts";
import { makeMaintenance, maintenanceSchedule } from "../../../src/compose/maintenance.ts";
import { createApp, type Program } from "../../../src/compose/app.ts";
import {
  auditLogs,
  formatHead,
  genesis,
  hashOf,
  parseHead,
} from "../../../src/platform/audit/chain.ts";
import { verifyAudit } from "../../../src/platform/audit/verify.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { meta } from "../../../src/platform/database/schema/table.ts";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { fingerprint, formerFingerprint } from "../../../src/platform/secrets/server-secret.ts";
import { newJournal } from "../../support/context.ts";
import { startApp } from "../../support/app.ts";
import { auditKey, secret, serverSecret } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { everyHour } from "../../../src/platform/jobs/cron-line.ts";

const journal = newJournal();

function record(db: Database, count: number): Promise<unknown> {
  return db.write(testContext, (tx) => {
    for (let place = 0; place < count; place += 1) {
      journal.record(tx, Date.now(), {
        action: "thing.changed",
        organizationId: null,
        subjectType: "thing",
        subjectId: String(place),
      });
    }
    return Promise.resolve();
  });
}

/** A logger whose lines are kept. */
function keptLog() {
  const lines: string[] = [];
  const logger = createLogger({
    level: "info",
    destination: { write: (line: string) => lines.push(line) },
  });
  const found = (text: string) =>
    lines
      .filter((line) => line.includes(text))
      .map((line) => JSON.parse(line) as { head: string; level: unknown });
  return { logger, found };
}

eachStore("the head of the audit chain", (store) => {
  it("goes into the log and to the platform organization once an hour, and both name a tail that was cut off", async () => {
    const { logger, found } = keptLog();
    const app = await startApp({
      place: await store.place("migrated"),
      background: false,
      outside: { logger },
    });
    const { db, clock } = app.app;
    const job = makeMaintenance(app.app).find(({ name }) => name.includes("audit"));
    expect(maintenanceSchedule.find(({ name }) => name === job?.name)?.line).to.equal(everyHour);
    const given = { signal: new AbortController().signal, payload: {} };
    const runJob = () => job?.run(given as unknown as Parameters<typeof job.run>[0]);
    const eventsOfHead = () =>
      db.all<{ organizationId: string; payload: string; id: string }>(
        `SELECT id, organization_id AS "organizationId", CAST(payload AS TEXT) AS "payload" FROM events WHERE type = 'audit.head' ORDER BY id`,
      );

    await record(db, 2);
    await runJob();
    expect(await eventsOfHead(), "there is no platform organization yet").to.deep.equal([]);
    const platform = await db.write(testContext, (tx) =>
      addOrganization(tx, app.app, clock.now(), {
        name: "Platform",
        ownerId: null,
        isPlatform: true,
      }),
    );
    await record(db, 1);
    const stored = await db.findOne(meta, "WHERE name = 'audit_head'");
    await runJob();
    await runJob();
    const [first, , head] = found("head of the audit chain").map((line) => parseHead(line.head));
    const last = (await db.find(auditLogs, "ORDER BY position")).at(-1);
    expect(head).to.deep.equal({ position: last?.position, hash: last?.hash });
    const [event, again] = await eventsOfHead();
    for (const { organizationId, payload } of [event, again].flatMap((one) => one ?? [])) {
      expect(organizationId).to.equal(platform.id);
      expect(JSON.parse(payload)).to.deep.equal(head);
    }
    expect(again, "announced although nothing was sealed meanwhile").not.to.equal(undefined);

    // Somebody puts everything back as it was before.
    await db.write(testContext, async (tx) => {
      await tx.run("DELETE FROM audit_logs WHERE position > $1", [first?.position ?? 0]);
      await tx.update(meta, { value: stored?.value ?? "" }, "WHERE name = 'audit_head'");
    });
    const verify = async (kept = null as typeof head) =>
      (await verifyAudit(db, auditKey, testContext, kept ?? null)).fault?.message ?? null;
    expect(await verify()).to.include(`the head of the event ${again?.id ?? ""}`);
    await db.write(testContext, (tx) => tx.run("DELETE FROM events WHERE type = 'audit.head'"));
    expect(await verify(), "without the event, the store cannot tell").to.equal(null);
    expect(await verify(head)).to.include("the head that was given says");
    await app.stop();
  });
});

/** The settings of a server on a place. */
async function configOf(place: StoreOptions) {
  const where =
    "url" in place ? { DATABASE_URL: place.url } : { TILL_DATA_DIR: dirname(place.sqliteFile) };
  const env = { TILL_NETWORKS: "sandbox", TILL_RATES: "off", TILL_SECRET: secret, ...where };
  return (await loadConfig({ mode: "serve", env })).config;
}

/** Seals everything as a release without keyed seals did. */
async function sealWithoutKey(db: Database): Promise<string> {
  let head = genesis;
  for (const [place, row] of (await db.find(auditLogs, "ORDER BY id")).entries()) {
    const position = place + 1;
    head = { position, hash: hashOf(null, head.hash, row, position) };
    await db.write(testContext, (tx) => tx.update(auditLogs, head, "WHERE id = $1", [row.id]));
  }
  const value = formatHead(head);
  await db.write(testContext, (tx) => tx.update(meta, { value }, "WHERE name = 'audit_head'"));
  return value;
}

eachStore("a store of a release without keyed seals", (store) => {
  store.leavesUnsound({ checks: ["audit.chain"], because: "entries are altered to be found out" });

  const facts = async (db: Database) =>
    new Map((await db.find(meta, "")).map(({ name, value }) => [name, value]));
  const faultOf = async (db: Database) =>
    (await verifyAudit(db, auditKey, testContext)).fault?.kind ?? null;

  it("is taken over by the first server, with a warning, and by no command", async () => {
    const place = await store.place("migrated");
    const db = await store.open(place);
    await record(db, 3);
    const former = await sealWithoutKey(db);
    const value = formerFingerprint(serverSecret);
    await db.write(testContext, (tx) => tx.insert(meta, { name: "secret_fingerprint", value }));
    const config = await configOf(place);
    const { logger, found } = keptLog();
    const refused = await createApp(config, "use", { logger }).then(
      () => "opened",
      (error: unknown) => String(error),
    );
    expect(refused).to.include("lacks keyed audit seals. Run till db migrate");
    expect((await facts(db)).get("audit_head")).to.equal(former);

    const apps = await Promise.all([1, 2].map(() => createApp(config, "migrate", { logger })));
    await Promise.all(apps.map((app) => app.close()));
    expect(found("without a key").map(({ head }) => head)).to.deep.equal([former]);
    const after = await facts(db);
    expect(after.get("secret_fingerprint")).to.equal(fingerprint(serverSecret));
    expect(after.get("audit_head")).to.match(new RegExp(`^${former}:4:[0-9a-f]{64}$`));
    await record(db, 2);
    const { entries, fault } = await verifyAudit(db, auditKey, testContext, parseHead(former));
    expect([entries, fault]).to.deep.equal([5, null]);
    await db.write(testContext, (tx) =>
      tx.run("UPDATE audit_logs SET actor_label = 'nobody' WHERE position = 2"),
    );
    expect(await faultOf(db)).to.equal("altered");
  });

  it("is not what somebody can make of a store that never was one", async () => {
    const place = await store.place("migrated");
    const config = await configOf(place);
    const { logger, found } = keptLog();
    const reopen = async (work: (app: Program) => Promise<unknown>) => {
      const app = await createApp(config, "migrate", { logger });
      try {
        await work(app);
      } finally {
        await app.close();
      }
    };
    const db = await store.open(place);
    await reopen((app) =>
      db.write(testContext, (tx) =>
        addOrganization(tx, app, Date.now(), { name: "P", ownerId: null, isPlatform: true }),
      ),
    );
    await record(db, 3);
    expect(await faultOf(db)).to.equal(null);
    await sealWithoutKey(db);
    await reopen((app) => verifyAuditLog(app, testContext, null));
    expect(await faultOf(db)).to.equal("head");
    for (const sql of [
      "DELETE FROM meta WHERE name = 'secret_fingerprint'",
      "DELETE FROM meta WHERE name IN ('secret_fingerprint', 'audit_head')",
      "DELETE FROM audit_logs",
    ]) {
      await db.write(testContext, (tx) => tx.run(sql));
      await reopen((app) => verifyAuditLog(app, testContext, null));
      expect(await faultOf(db), sql).to.equal("head");
    }
    expect(found("without a key")).to.deep.equal([]);
  });
});
