// The journal: one call records a change in the audit log and raises its events.
import { expect } from "chai";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { createJournal, type JournalEntry } from "../../../src/platform/journal.ts";
import { newIds } from "../../support/context.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

anyStore("a change recorded in the journal", (store) => {
  let wakes = 0;
  const journal = createJournal({ ids: newIds(), wake: () => (wakes += 1) });
  const at = Date.UTC(2031, 0, 1);
  const subject = { organizationId: "org_1", subjectType: "customer", subjectId: "cus_1" };
  const announced = { version: 2, data: { id: "cus_1", name: "New" } };
  const changes = { name: { from: "Old", to: "New" } };

  async function recorded(entry: JournalEntry) {
    const db = await store.open();
    wakes = 0;
    await db.write(testContext, (tx) => Promise.resolve(journal.record(tx, at, entry)));
    return { audit: await db.find(auditLogs, ""), raised: await db.find(events, "ORDER BY id") };
  }

  it("has one audit entry with its actor, and its events with one record", async () => {
    const { audit, raised } = await recorded({
      ...subject,
      action: "customer.updated",
      changes,
      events: { types: ["customer.updated", "customer.created"], ...announced },
    });
    expect(audit).to.have.length(1);
    expect(audit[0]).to.include({
      organizationId: "org_1",
      action: "customer.updated",
      createdAt: at,
      targetType: "customer",
      targetId: "cus_1",
      actorType: testContext.actor.type,
    });
    expect(audit[0]?.changes).to.deep.equal(changes);
    expect(raised.map(({ type }) => type)).to.have.members([
      "customer.updated",
      "customer.created",
    ]);
    for (const event of raised) {
      expect(event).to.include({
        organizationId: "org_1",
        objectType: "customer",
        objectId: "cus_1",
        objectVersion: 2,
        occurredAt: at,
        position: null,
      });
      expect(event.payload).to.deep.equal(announced.data);
    }
    expect(wakes).to.equal(1);
  });

  it("has no event, and wakes no relay, if it has none to raise", async () => {
    const { audit, raised } = await recorded({ ...subject, action: "customer.updated" });
    expect(audit).to.have.length(1);
    expect(audit[0]?.changes).to.deep.equal({});
    expect(raised).to.deep.equal([]);
    expect(wakes).to.equal(0);
  });

  it("has no audit entry if it has no action", async () => {
    const { audit, raised } = await recorded({
      ...subject,
      events: { types: ["customer.updated"], ...announced },
    });
    expect(audit).to.deep.equal([]);
    expect(raised).to.have.length(1);
  });
});
