import { expect } from "chai";
import { makeDesk, type DeskStore } from "./billing-operator.ts";

const env = { TERM: "xterm" };
const no = "n\r";
const yes = "y\r";

describe("a command that changes something", () => {
  const desk = makeDesk();

  /** Runs a command at a terminal, where a question is answered. */
  const ask = (store: DeskStore, words: readonly string[], question: string, keys: string) =>
    store.till([...words, "--no-color"], { env, person: [[question, keys]] });

  it("shows who is approved, what was submitted, and the values before and after", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    const words = ["org", "approve", id];
    const declined = await ask(store, words, `Approve Nook (${id}), pending_review?`, no);
    expect(declined.code, declined.stderr).to.equal(3);
    for (const line of [
      /^Nook \(org_\w+\), pending_review$/m,
      /^ {2}Submitted +20/m,
      /^ {2}Legal name +Ada's Shop Ltd$/m,
      /^ {2}Verification +pending_review → approved$/m,
    ]) {
      expect(declined.stderr).to.match(line);
    }
    expect(await store.audited("organization.approved")).to.deep.equal([]);
    const done = await ask(store, words, `Approve Nook (${id})`, yes);
    expect(done.code, done.stderr).to.equal(0);
    expect(await store.audited("organization.approved")).to.have.length(1);
  });

  it("takes an organization's name for its id, and lists those that share a name", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    expect(await store.json(["org", "approve", "nook", "--dry-run"])).to.include({ id });
    const other = await store.pendingOrganization();
    const shared = await store.till(["org", "approve", "Nook", "--yes"]);
    expect(shared.code).to.equal(2);
    expect(shared.stderr).to.include(id).and.to.include(other);
    expect(await store.audited("organization.approved")).to.deep.equal([]);
  });

  it("reports an unknown id and a conflict without asking", async () => {
    const store = await desk.store();
    const own = ["--organization", await store.platformId()];
    const hash = `0x${"5e".repeat(32)}`;
    for (const words of [
      ["org", "approve", "org_nothing"],
      ["org", "reject", "org_nothing", "--note", "No"],
      ["org", "suspend", "org_nothing"],
      ["user", "reset-password", "nobody@example.com"],
      ["key", "revoke", "key_nothing"],
      ["wallet", "release", "wal_nothing"],
      ["rates", "accept", "EUR/XXX"],
      ["refund", "send", "rfd_nothing", hash],
      ["refund", "reject", "rfd_nothing", "--reason", "No"],
      ["payments", "allocate", "trf_nothing", "inv_nothing"],
      ["payments", "ignore", "trf_nothing"],
      ["payments", "reverse", "pay_nothing", ...own],
      ["webhook", "replay", "whd_nothing"],
      ["billing", "credit", "5.00", "--organization", "org_no", "--currency=USD", "--reason=No"],
    ]) {
      const { code, stderr } = await store.till(words, { env, person: [] });
      expect(code, `${words.join(" ")}: ${stderr}`).to.equal(5);
      expect(stderr, words.join(" ")).not.to.match(/\(y\/N\)/);
    }
    const cancel = ["billing", "cancel", ...own, "--reason", "No"];
    const conflict = await store.till(cancel, { env, person: [] });
    expect(conflict.stderr)
      .to.include("never had a subscription")
      .and.not.to.match(/\(y\/N\)/);
    expect(conflict.code).not.to.equal(0);
  });

  it("shows in a dry run what it would change, and nothing of it to scripts", async () => {
    const store = await desk.store();
    const id = await store.pendingOrganization();
    const words = ["org", "suspend", id, "--dry-run"];
    const { code, stdout, stderr } = await store.till(words);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^Status +suspended$/m);
    expect(stderr).to.match(/^Nook \(org_\w+\), active$/m);
    expect(stderr).to.match(/^ {2}Status +active → suspended$/m);
    expect(stderr).to.include("Dry run: nothing was changed");
    const quiet = await store.till([...words, "--json"]);
    expect(quiet.stderr).to.equal("");
    expect(JSON.parse(quiet.stdout)).to.include({ id, status: "suspended" });
    expect(await store.json(["org", "show", id])).to.include({ status: "active" });
  });

  it("shows the credit that an organization has and will have", async () => {
    const store = await desk.store();
    const own = ["--organization", await store.platformId()];
    const words = ["billing", "credit", ...own, "--currency", "USD", "--reason", "Outage"];
    expect(await store.json([...words, "25.00", "--yes"])).to.include({ amount: "25.00" });
    const { code, stderr } = await ask(store, [...words, "5.50"], "a credit of 5.50 USD?", no);
    expect(code, stderr).to.equal(3);
    expect(stderr).to.match(/^Shop \(org_\w+\), active$/m);
    expect(stderr).to.match(/^ {2}Usable credit +25\.00 USD → 30\.50 USD$/m);
    const { data } = (await store.json(["billing", "credits", ...own])) as { data: unknown[] };
    expect(data).to.have.length(1);
  });

  it("makes a person choose between whole records and ids", async () => {
    const store = await desk.store();
    const { code, stdout, stderr } = await store.till(["org", "list", "--json", "--quiet"]);
    expect(code).to.equal(2);
    expect(stdout).to.equal("");
    expect((JSON.parse(stderr) as { detail: string }).detail).to.include("--json, which prints");
  });
});
