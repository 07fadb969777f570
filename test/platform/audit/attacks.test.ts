// An attacker who can write to the store, but does not have the server's secret: verification detects each attempt to
// hide an entry, either alone or with a head that was kept out of the attacker's reach.
import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import { auditChecks, verifyAudit, type AuditFault } from "../../../src/platform/audit/verify.ts";
import {
  auditLogs,
  formatHead,
  genesis,
  hashOf,
  type AuditRow,
  type ChainHead,
} from "../../../src/platform/audit/chain.ts";
import { keyChain, sealAll } from "../../../src/platform/audit/head.ts";
import { meta } from "../../../src/platform/database/schema/table.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { newIds, newJournal } from "../../support/context.ts";
import { auditKey } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("the audit chain against an attacker who writes to the store", (store) => {
  store.leavesUnsound({ checks: ["audit.chain"], because: "entries are altered to be found out" });

  const ids = newIds();
  const journal = newJournal(ids);
  let db: Database;
  /** The head when five of eight entries existed, as in the store and as an operator may keep it. */
  let early: { readonly stored: string; readonly kept: ChainHead };
  let head: ChainHead;

  beforeEach(async () => {
    db = await store.open();
    await record(5);
    early = { kept: await seal(), stored: await storedHead() };
    await record(3);
    head = await seal();
  });

  const seal = () => sealAll(db, auditKey, testContext);
  const run = (sql: string, ...values: readonly (string | number)[]) =>
    db.write(testContext, (tx) => tx.run(sql, values));
  const record = (count: number) =>
    db.write(testContext, (tx) => {
      for (let place = 0; place < count; place += 1) {
        journal.record(tx, systemClock.now(), {
          action: "thing.changed",
          organizationId: null,
          subjectType: "thing",
          subjectId: String(place),
        });
      }
      return Promise.resolve();
    });
  const rows = () => db.find(auditLogs, "ORDER BY position");
  const storedHead = async () => (await db.findOne(meta, "WHERE name = 'audit_head'"))?.value ?? "";
  const putHead = (value: string) =>
    run("UPDATE meta SET value = $1 WHERE name = 'audit_head'", value);
  const cutAfter = (position: number) =>
    run("DELETE FROM audit_logs WHERE position > $1", position);
  const announce = (announced: ChainHead) =>
    db.write(testContext, (tx) =>
      Promise.resolve(
        journal.record(tx, Date.UTC(2031, 0, 1), {
          organizationId: "org_platform",
          subjectType: "audit_chain",
          subjectId: "audit_chain",
          events: { types: ["audit.head"], version: 1, data: { ...announced } },
        }),
      ),
    );
  async function fault(given: ChainHead | null = null): Promise<AuditFault | null> {
    return (await verifyAudit(db, auditKey, testContext, given)).fault;
  }

  /** Changes an entry, and recomputes its hash and all later ones without a key, as in earlier releases. */
  async function forgeFrom(start: number, through = Infinity): Promise<string> {
    await run("UPDATE audit_logs SET actor_label = 'nobody' WHERE position = $1", start);
    let previous = genesis.hash;
    for (const row of await rows()) {
      const position = row.position ?? 0;
      if (position > through) break;
      previous = position < start ? (row.hash ?? "") : hashOf(null, previous, row, position);
      await run("UPDATE audit_logs SET hash = $1 WHERE position = $2", previous, position);
    }
    return previous;
  }

  it("reports the entries of a deleted tail", async () => {
    await cutAfter(5);
    expect(await fault()).to.deep.equal({
      position: 6,
      id: null,
      kind: "missing",
      message:
        "The audit log ends at 5; the head in the store says 8: 3 entries are missing, from 6 on.",
    });
    await record(2);
    expect(await fault(), "later entries do not fill the gap").to.include({ position: 6 });
    const [violation] = (await auditChecks(auditKey)[0]?.run(db)) ?? [];
    expect(violation?.fault).to.include("from 6 to 8");
  });

  it("detects a head that was moved back with a deleted tail, removed, or written in the format without a key", async () => {
    const written = await storedHead();
    const [, , keyedFrom = "", mac = ""] = written.split(":");
    const forged = [
      `${formatHead(early.kept)}:${keyedFrom}:${mac}`,
      `${formatHead(early.kept)}:${keyedFrom}:`,
      `${formatHead(early.kept)}:${keyedFrom}`,
      formatHead(early.kept),
      formatHead(genesis),
      `${formatHead(genesis)}:1:${mac}`,
      "",
    ];
    await cutAfter(5);
    for (const value of forged) {
      await putHead(value);
      expect(await fault(), value).to.include({ kind: "head", position: 5 });
    }
    await run("DELETE FROM meta WHERE name = 'audit_head'");
    expect((await fault())?.message).to.equal(
      "The head of the audit chain is missing from the store, or was altered.",
    );
    expect((await fault(head))?.message).to.match(
      /altered\. The audit log ends at 5; the head that was given says 8: 3 entries are missing, from 6 on\.$/,
    );
    const refused = await seal().then(
      () => "sealed",
      (error: unknown) => String(error),
    );
    expect(refused).to.include("Nothing is sealed until it is restored");
  });

  it("detects a changed entry whose hashes were recomputed without the key", async () => {
    const last = await forgeFrom(3);
    expect(await fault()).to.include({ position: 3, kind: "altered" });
    await putHead(`8:${last}`);
    expect(await fault(), "as if no entry had a keyed seal").to.include({ kind: "head" });
  });

  it("detects that everything was deleted", async () => {
    await cutAfter(0);
    expect((await fault())?.message)
      .to.include("ends at 0")
      .and.include("8 entries are missing");
    await run("DELETE FROM meta WHERE name = 'audit_head'");
    expect(await fault()).to.include({ kind: "head", position: 0 });
  });

  it("detects the head of another store, with another secret or the same one", async () => {
    const other = await store.open();
    const otherKey = new Uint8Array(32);
    await other.write(testContext, async (tx) => {
      await tx.run("DELETE FROM meta WHERE name = 'audit_head'");
      await keyChain(tx, otherKey);
      journal.record(tx, systemClock.now(), {
        action: "thing.changed",
        organizationId: null,
        subjectType: "thing",
        subjectId: "x",
      });
    });
    await sealAll(other, otherKey, testContext);
    const foreign = await other.findOne(meta, "WHERE name = 'audit_head'");
    await putHead(foreign?.value ?? "");
    expect(await fault()).to.include({ kind: "head" });

    const sibling = await store.open();
    await sibling.write(testContext, (tx) => {
      journal.record(tx, systemClock.now(), {
        action: "thing.changed",
        organizationId: null,
        subjectType: "thing",
        subjectId: "x",
      });
      return Promise.resolve();
    });
    await sealAll(sibling, auditKey, testContext);
    const genuine = await sibling.findOne(meta, "WHERE name = 'audit_head'");
    await putHead(genuine?.value ?? "");
    expect(await fault()).to.include({ kind: "rewritten", position: 1 });
  });

  it("detects an older head that was restored with its entries only by a head kept elsewhere", async () => {
    await cutAfter(5);
    await putHead(early.stored);
    expect(await fault(), "the store alone").to.equal(null);
    expect((await fault(early.kept)) ?? null).to.equal(null);
    expect(await fault(head)).to.deep.equal({
      position: 6,
      id: null,
      kind: "missing",
      message:
        "The audit log ends at 5; the head that was given says 8: 3 entries are missing, from 6 on.",
    });
    const [event] = await announce(head);
    expect((await fault())?.message).to.equal(
      `The audit log ends at 5; the head of the event ${String(event?.id)} of 2031-01-01T00:00:00.000Z says 8: 3 entries are missing, from 6 on.`,
    );
    const [violation] = (await auditChecks(auditKey)[0]?.run(db)) ?? [];
    expect(violation?.fault).to.include(String(event?.id));
  });

  it("detects by an event that other entries replaced a deleted tail", async () => {
    await announce(head);
    await cutAfter(5);
    await putHead(early.stored);
    await record(9);
    await seal();
    expect(await fault()).to.include({ position: 8, kind: "rewritten" });
    expect((await fault())?.message).to.include("the head of the event evt_");
  });

  it("ignores a malformed announced head, and accepts a genuine one", async () => {
    await announce({ position: -1, hash: "nothing" });
    await announce(early.kept);
    await announce(head);
    expect(await fault()).to.equal(null);
  });

  describe("with entries of a release without a key", () => {
    /** Turns the first five entries into those of an earlier release, and seals the others with the key. */
    beforeEach(async () => {
      let previous = genesis.hash;
      const former: AuditRow[] = [];
      for (const row of (await rows()).slice(0, 5)) {
        former.push({ ...row, hash: hashOf(null, previous, row, row.position ?? 0) });
        previous = former.at(-1)?.hash ?? "";
      }
      await run("UPDATE audit_logs SET position = NULL, hash = NULL WHERE position > 5");
      for (const { id, hash } of former) {
        await run("UPDATE audit_logs SET hash = $1 WHERE id = $2", hash ?? "", id);
      }
      await putHead(`5:${previous}`);
      early = { kept: { position: 5, hash: previous }, stored: "" };
      const last = await db.write(testContext, (tx) => keyChain(tx, auditKey));
      expect(last).to.deep.equal(early.kept);
      head = await seal();
    });

    it("is intact, also against an earlier head, and is converted once", async () => {
      expect(await storedHead()).to.match(/^8:[0-9a-f]{64}:6:[0-9a-f]{64}$/);
      expect(await fault(early.kept)).to.equal(null);
      const before = await storedHead();
      expect(await db.write(testContext, (tx) => keyChain(tx, auditKey))).to.equal(null);
      expect(await storedHead()).to.equal(before);
    });

    it("detects a changed entry among them, with its old hash or with new ones", async () => {
      await run("UPDATE audit_logs SET actor_label = 'nobody' WHERE position = 2");
      expect(await fault()).to.include({ position: 2, kind: "altered" });
      await forgeFrom(2, 5);
      expect(await fault()).to.include({ position: 6, kind: "altered" });
    });

    it("detects that the first position with a keyed seal was moved", async () => {
      const stored = await storedHead();
      await putHead(stored.replace(/:6:/, ":9:"));
      expect(await fault()).to.include({ kind: "head" });
      const last = await forgeFrom(2);
      await putHead(stored.replace(/^8:[0-9a-f]{64}:6:/, `8:${last}:9:`));
      expect(await fault()).to.include({ kind: "head" });
      await putHead(stored);
      expect(await fault()).to.include({ position: 6, kind: "altered" });
    });
  });
});
