// The audit log on the command line, and the proof of its chain.
import { expect } from "chai";
import { AuditLogListRecord } from "../../../src/features/audit-logs/records.ts";
import { context, makeDesk } from "../billing-operator.ts";

interface Verification {
  readonly entries: number;
  readonly head: string;
  readonly fault: { readonly position: number; readonly id: string; readonly kind: string } | null;
}

describe("till audit", () => {
  const desk = makeDesk();

  it("lists the same entries with the same filters as the API", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    const list = async (...words: string[]) =>
      AuditLogListRecord.parse(await store.json(["audit", "list", ...words])).data;
    const all = await list();
    expect(all.map(({ action }) => action)).to.include.members([
      "organization.verification_submitted",
      "user.created",
    ]);
    const own = await list("--organization", id);
    expect(new Set(own.map(({ organizationId }) => organizationId))).to.deep.equal(new Set([id]));
    const made = await list("--action", "organization.created", "--organization", id);
    expect(made).to.have.length(1);
    const createdAt = made[0]?.createdAt ?? "";
    expect(await list("--created-to", createdAt, "--organization", id)).to.deep.equal([]);
    expect(await list("--created-from", createdAt, "--organization", id)).to.deep.equal(own);
    expect(await list("--to", createdAt, "--organization", id)).to.deep.equal([]);
    expect(await list("--from", createdAt, "--organization", id)).to.deep.equal(own);
    expect(await list("--actor-id", "usr_nobody")).to.deep.equal([]);

    expect((await store.till(["audit", "list", "--organization", "org_nothing"])).code).to.equal(5);
    const wrong = await store.till(["audit", "list", "--from", "yesterday"]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include("--from");
    const table = await store.till(["audit", "list"]);
    expect(table.stdout).to.match(/ organization\.created +\S+@\S+ +org_/);
  });

  it("seals first, and prints a head that verifies later too", async () => {
    const store = await desk.store();
    await store.pendingOrganization();
    const first = (await store.json(["audit", "verify"])) as Verification;
    expect(first.fault).to.equal(null);
    expect(first.entries).to.be.above(3);
    expect(first.head).to.match(new RegExp(`^${String(first.entries)}:[0-9a-f]{64}$`));
    const unsealed = await store.withApp((app) =>
      app.db.all("SELECT id FROM audit_logs WHERE hash IS NULL"),
    );
    expect(unsealed).to.deep.equal([]);
    expect((await store.till(["audit", "verify", "-q"])).stdout).to.equal(`${first.head}\n`);

    await store.pendingOrganization();
    const later = (await store.json(["audit", "verify", "--head", first.head])) as Verification;
    expect(later.entries).to.be.above(first.entries);
    const people = await store.till(["audit", "verify", "--head", first.head]);
    expect(people.stdout).to.match(new RegExp(`^Head +${later.head}$`, "m"));
  });

  it("exits with 1 and names the first entry that was changed", async () => {
    const store = await desk.store();
    await store.pendingOrganization();
    await store.till(["audit", "verify"]);
    const [entry] = await store.audited("organization.created");
    await store.withApp((app) =>
      app.db.write(context, (tx) =>
        tx.run("UPDATE audit_logs SET actor_label = 'nobody' WHERE id = $1", [
          String(entry?.["id"]),
        ]),
      ),
    );
    const { code, stdout, stderr } = await store.till(["audit", "verify", "--json"]);
    expect(code).to.equal(1);
    const { fault } = JSON.parse(stdout) as Verification;
    expect(fault).to.include({ id: entry?.["id"], kind: "altered" });
    expect(JSON.parse(stderr)).to.include({ code: "audit_chain_broken" });
    const people = await store.till(["audit", "verify"]);
    expect(people.code).to.equal(1);
    expect(people.stderr).to.include(String(entry?.["id"])).and.to.include("was altered");
  });

  it("exits with 1 if a kept head is missing from the chain, and with 2 if it is malformed", async () => {
    const store = await desk.store();
    const { head } = (await store.json(["audit", "verify"])) as Verification;
    const other = `${head.split(":")[0] ?? ""}:${"0".repeat(64)}`;
    const rewritten = await store.till(["audit", "verify", "--head", other]);
    expect(rewritten.code).to.equal(1);
    expect(rewritten.stderr).to.include("was replaced: the head that was given differs");
    const ahead = await store.till(["audit", "verify", "--head", `999:${"0".repeat(64)}`]);
    expect(ahead.code).to.equal(1);
    expect(ahead.stderr).to.match(/the head that was given says 999: \d+ entries are missing/);
    const none = await store.till(["audit", "verify", "--head", "yesterday's"]);
    expect(none.code).to.equal(2);
    expect(none.stderr).to.include("--head");
  });
});
