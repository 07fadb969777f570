// The chain of the audit log on both databases: any process may seal entries, and verification detects each change.
import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import {
  auditLogs,
  formatHead,
  genesis,
  hashOf,
  parseHead,
  type AuditRow,
  type ChainHead,
} from "../../../src/platform/audit/chain.ts";
import { createSealer, readHead, sealAll } from "../../../src/platform/audit/head.ts";
import { verifyAudit } from "../../../src/platform/audit/verify.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { createLeases } from "../../../src/platform/jobs/leases.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import { newIds, newJournal } from "../../support/context.ts";
import { auditKey } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("the audit chain", (store) => {
  store.leavesUnsound({ checks: ["audit.chain"], because: "entries are altered to be found out" });

  const ids = newIds();
  const journal = newJournal(ids);
  let db: Database;

  beforeEach(async () => {
    db = await store.open();
  });

  const record = (on: Database, ...names: readonly string[]) =>
    on.write(testContext, (tx) => {
      for (const name of names) {
        journal.record(tx, systemClock.now(), {
          action: "thing.changed",
          organizationId: null,
          subjectType: "thing",
          subjectId: name,
          changes: { name: { from: null, to: name }, ünïcode: "✓ \u2028", deep: [{ b: 1, a: 2 }] },
        });
      }
      return Promise.resolve();
    });
  const tamper = (sql: string, ...values: readonly (string | number)[]) =>
    db.write(testContext, (tx) => tx.run(sql, values));
  const rows = () => db.find(auditLogs, "ORDER BY position");
  const verify = (kept: ChainHead | null = null) => verifyAudit(db, auditKey, testContext, kept);
  const eight = ["a", "b", "c", "d", "e", "f", "g", "h"];

  it("assigns each entry a position and a hash that covers the previous one, after it was written", async () => {
    await record(db, "a", "b");
    await record(db, "c");
    expect(
      (await db.find(auditLogs, "")).map(({ position, hash }) => [position, hash]),
    ).to.deep.equal([
      [null, null],
      [null, null],
      [null, null],
    ]);
    await sealAll(db, auditKey, testContext);
    const sealed = await rows();
    expect(sealed.map(({ position, targetId }) => [position, targetId])).to.deep.equal([
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ]);
    let previous = genesis.hash;
    for (const row of sealed) {
      expect(row.hash).to.equal(hashOf(auditKey, previous, row, row.position ?? 0));
      previous = row.hash ?? "";
    }
    expect(await readHead(db, auditKey)).to.deep.equal({
      position: 3,
      hash: previous,
      keyedFrom: 1,
    });
  });

  it("is intact for an empty log, and for more than a batch", async () => {
    expect(await verify()).to.deep.equal({ entries: 0, head: genesis, fault: null });
    await record(db, ...Array.from({ length: 1_203 }, (_, n) => String(n)));
    const { entries, head, fault } = await verify();
    expect([entries, head.position, fault]).to.deep.equal([1_203, 1_203, null]);
    expect((await verify()).head).to.deep.equal(head);
  });

  it("seals the unsealed entries before it verifies", async () => {
    await record(db, "a");
    expect((await verify()).entries).to.equal(1);
    await record(db, "b");
    expect(await verify()).to.include({ entries: 2, fault: null });
  });

  const columns: Readonly<Record<string, string | number>> = {
    organization_id: "org_other",
    actor_type: "operator",
    actor_id: "usr_other",
    actor_label: "somebody else",
    action: "thing.removed",
    target_type: "other",
    target_id: "z",
    ip: "10.0.0.1",
    request_id: "req_other",
    changes: '{"name":{"from":null,"to":"x"}}',
    hash: "f".repeat(64),
    created_at: 1,
  };
  for (const [column, value] of Object.entries(columns)) {
    it(`detects that ${column} of an entry was altered`, async () => {
      await record(db, ...eight);
      await sealAll(db, auditKey, testContext);
      await tamper(
        `UPDATE audit_logs SET ${column} = $1 WHERE position >= 4 AND position <= 5`,
        value,
      );
      const { entries, fault } = await verify();
      const fourth = (await rows())[3];
      expect(fault).to.include({ position: 4, id: fourth?.id, kind: "altered" });
      expect(fault?.message).to.include(fourth?.id ?? "nothing");
      expect(entries).to.equal(3);
    });
  }

  for (const [name, position] of [
    ["first", 1],
    ["fourth", 4],
    ["last", 8],
  ] as const) {
    it(`detects that the ${name} entry was removed`, async () => {
      await record(db, ...eight);
      await sealAll(db, auditKey, testContext);
      await tamper("DELETE FROM audit_logs WHERE position = $1", position);
      const { fault } = await verify();
      expect(fault).to.include({ position, kind: "missing" });
      // Later entries do not close the gap.
      await record(db, "later");
      expect((await verify()).fault).to.include({ position, kind: "missing" });
    });
  }

  it("detects entries that were moved, removed from the chain, or appended to it", async () => {
    await record(db, ...eight);
    await sealAll(db, auditKey, testContext);
    await tamper("UPDATE audit_logs SET position = 100 WHERE position = 2");
    expect((await verify()).fault).to.include({ position: 2, kind: "missing" });
    await tamper("UPDATE audit_logs SET position = 2 WHERE position = 100");
    expect((await verify()).fault).to.equal(null);
    await tamper("UPDATE audit_logs SET position = NULL, hash = NULL WHERE position = 5");
    expect((await verify()).fault).to.include({ position: 5, kind: "missing" });
  });

  it("detects an entry beyond the head", async () => {
    await record(db, ...eight);
    const { head } = await verify();
    const [last] = (await rows()).slice(-1);
    if (last === undefined) throw new Error("nothing is sealed");
    const forged: AuditRow = { ...last, id: ids.next("auditLog", last.createdAt), position: 9 };
    await db.write(testContext, (tx) =>
      tx.insert(auditLogs, { ...forged, hash: hashOf(null, head.hash, forged, 9) }),
    );
    expect((await verify()).fault).to.include({ position: 9, id: forged.id, kind: "foreign" });
  });

  it("stays intact and without gaps while several processes write, seal and verify at once", async () => {
    const place = await store.place("migrated");
    const processes = [await store.open(place), await store.open(place), await store.open(place)];
    const [first] = processes;
    if (first === undefined) throw new Error("nothing is open");
    await Promise.all(
      processes.map(async (one) => {
        for (let round = 0; round < 12; round += 1) {
          await Promise.all([
            record(one, "a", "b", "c"),
            record(one, "d"),
            sealAll(one, auditKey, testContext),
            round % 4 === 0
              ? verifyAudit(one, auditKey, testContext).then(({ fault }) => {
                  expect(fault).to.equal(null);
                })
              : null,
          ]);
        }
      }),
    );
    const { entries, fault } = await verifyAudit(first, auditKey, testContext);
    expect([entries, fault]).to.deep.equal([3 * 12 * 4, null]);
    const positions = (await first.find(auditLogs, "ORDER BY position")).map((row) => row.position);
    expect(positions).to.deep.equal(positions.map((_position, place) => place + 1));
  });

  it("is sealed in the background by one process at a time", async () => {
    const place = await store.place("migrated");
    const [one, two] = [await store.open(place), await store.open(place)];
    const sealerOf = (database: Database) => {
      const actor = systemActor("test");
      const leases = createLeases({ db: database, clock: systemClock, ids, actor });
      return {
        leases,
        worker: createSealer({ db: database, key: auditKey, leases, context: testContext }),
      };
    };
    const [mine, yours] = [sealerOf(one), sealerOf(two)];
    const { signal } = new AbortController();
    const unsealed = async () => (await one.find(auditLogs, "WHERE position IS NULL")).length;
    await record(one, "a");
    expect(await mine.worker.run(signal)).to.equal(false);
    expect(await unsealed()).to.equal(0);
    await record(one, "b");
    await yours.worker.run(signal);
    expect(await unsealed()).to.equal(1);
    await mine.leases.releaseAll();
    await yours.worker.run(signal);
    expect(await unsealed()).to.equal(0);
    await record(one, ...Array.from({ length: 501 }, (_, n) => String(n)));
    expect(await yours.worker.run(signal)).to.equal(true);
    expect(await yours.worker.run(signal)).to.equal(false);
    expect(await unsealed()).to.equal(0);
  });
});

describe("the head of an audit chain", () => {
  it("survives a round trip as text, and no other text is accepted", () => {
    const head = { position: 12, hash: "0123456789abcdef".repeat(4) };
    expect(parseHead(formatHead(head))).to.deep.equal(head);
    expect(parseHead(formatHead(genesis))).to.deep.equal(genesis);
    for (const text of ["", "12", `12:${"g".repeat(64)}`, `-1:${head.hash}`, `01:${head.hash}`]) {
      expect(parseHead(text), text).to.equal(null);
    }
  });
});
