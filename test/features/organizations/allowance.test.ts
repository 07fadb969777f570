// The storage of an organization before its approval.
import { expect } from "chai";
import {
  unapprovedBytesMax,
  unapprovedDraftsMax,
} from "../../../src/features/organizations/verification.ts";
import { organizationAllowances } from "../../../src/features/organizations/store.ts";
import { expectProblem } from "../../http/problem.ts";
import {
  eachServed,
  expectStatus,
  platformAdmin,
  register,
  startApp,
  type Answer,
  type Person,
} from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

const terms = {
  amount: "5",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
  draft: true,
};
/** As much as a request may name: 20 values of 500 characters. */
const metadata = Object.fromEntries(
  Array.from({ length: 20 }, (_, place) => [`field${String(place)}`, "x".repeat(500)]),
);
const profile = {
  legalName: "Ada Ltd",
  registrationNumber: "HRB 1",
  country: "DE",
  address: "Street 1",
  website: "https://ada.example",
  contactEmail: "ada@ada.example",
  businessDescription: "Books",
};

eachServed("An organization without approval", (served) => {
  let owner: Person;
  let admin: Person;
  before(async () => {
    admin = await platformAdmin(served.app);
  });
  beforeEach(async () => {
    owner = await register(served.app);
  });

  const ask = (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
    served.app.request(method, `/v1/organizations/${owner.organizationId}${path}`, {
      token: owner.token,
      headers,
      ...(body && { body }),
    });
  const draft = (more: object = {}) => ask("POST", "/invoices", { ...terms, ...more });

  async function used(): Promise<{ bytes: number; drafts: number }> {
    const { db } = served.app.app;
    const row = await db.findOne(organizationAllowances, "WHERE organization_id = $1", [
      owner.organizationId,
    ]);
    return row ?? { bytes: 0, drafts: 0 };
  }
  const rows = (): Promise<number[]> =>
    Promise.all(
      ["invoices", "invoice_terms", "customers", "events", "audit_logs", "idempotency_keys"].map(
        (name) => countRows(served.app.app.db, name),
      ),
    );
  async function use(set: { bytes?: number; drafts?: number }): Promise<void> {
    await expectStatus(draft(), 201);
    await served.app.app.db.write(testContext, (tx) =>
      tx.update(organizationAllowances, set, "WHERE organization_id = $1", [owner.organizationId]),
    );
  }

  /** Completes an organization's profile, submits it, and approves it as the platform's admin. */
  async function approve(organizationId: string, completes = true): Promise<void> {
    const path = `/v1/organizations/${organizationId}`;
    const { token } = owner;
    if (completes) {
      await expectStatus(served.app.request("PATCH", path, { token, body: profile }), 200);
    }
    await expectStatus(served.app.request("POST", `${path}/kyb/submit`, { token }), 200);
    const decision = `/v1/admin/organizations/${organizationId}/verification`;
    const decided = served.app.request("POST", decision, {
      token: admin.token,
      body: { decision: "approve" },
    });
    await expectStatus(decided, 200);
  }

  it("may create 1,000 drafts, and not one more when 64 ask at once", async () => {
    await use({ drafts: unapprovedDraftsMax - 10 });
    const answers = await Promise.all(Array.from({ length: 64 }, () => draft()));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(10);
    const refused = answers.find(({ status }) => status !== 201);
    if (refused === undefined) throw new Error("no draft was refused");
    expectProblem(refused, 403, "allowance_used");
    expect((await used()).drafts).to.equal(unapprovedDraftsMax);
    // Batches count each draft.
    const invoices = [{ ...terms, externalId: "one" }];
    expectProblem(await ask("POST", "/invoices/batch", { invoices }), 403, "allowance_used");
    // Other things than drafts can still be created.
    await expectStatus(ask("POST", "/customers", { name: "Bob" }), 201);
  });

  it("may store 32 MiB, in which metadata counts as often as it is stored", async () => {
    await draft();
    const before = await used();
    await expectStatus(draft({ metadata }), 201);
    const plain = await used();
    await expectStatus(
      ask("POST", "/invoices", { ...terms, metadata }, { "Idempotency-Key": "a-key" }),
      201,
    );
    const kept = await used();
    const size = 20 * 500;
    // In the invoice and its event; with a key, in the kept answer too.
    expect(plain.bytes - before.bytes).to.be.greaterThan(2 * size);
    expect(kept.bytes - plain.bytes).to.be.greaterThan(3 * size);

    await use({ bytes: unapprovedBytesMax - 4 * 1_024 ** 2 - 4_000 });
    const stored = await rows();
    expectProblem(await draft({ metadata }), 403, "allowance_used");
    expectProblem(
      await ask("POST", "/customers", { name: "Bob", metadata }),
      403,
      "allowance_used",
    );
    expect(await rows()).to.deep.equal(stored);
  });

  it("is one of at most 10 that a user created, also when 64 ask at once", async () => {
    const found = () =>
      served.app.request("POST", "/v1/organizations", {
        token: owner.token,
        body: { name: "Another" },
      });
    const answers = await Promise.all(Array.from({ length: 64 }, found));
    const made = answers.filter(({ status }) => status === 201);
    // The registration created the first one.
    expect(made).to.have.length(9);
    const refused = answers.find(({ status }) => status !== 201);
    if (refused === undefined) throw new Error("no organization was refused");
    expectProblem(refused, 409, "organization_limit");
    await approve(String(made[0]?.body["id"]));
    await expectStatus(found(), 201);
    expectProblem(await found(), 409, "organization_limit");
  });

  it("can still be approved when it has used all that, and has no such limit afterwards", async () => {
    await use({ bytes: unapprovedBytesMax - 4 * 1_024 ** 2 });
    expectProblem(await draft(), 403, "allowance_used");
    const { path } = owner;
    const { token } = owner;
    await expectStatus(served.app.request("PATCH", path, { token, body: profile }), 200);
    await served.app.app.db.write(testContext, (tx) =>
      tx.update(
        organizationAllowances,
        { bytes: unapprovedBytesMax },
        "WHERE organization_id = $1",
        [owner.organizationId],
      ),
    );
    expectProblem(await ask("PATCH", "", { legalName: "Ada" }), 403, "allowance_used");
    await approve(owner.organizationId, false);
    await expectStatus(draft({ metadata }), 201);
    expect(await used()).to.deep.equal({ bytes: 0, drafts: 0 });
  });
});

anyStore("An organization where none needs approval", (store) => {
  it("may store what it likes", async () => {
    const app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_VERIFICATION: "off" },
    });
    try {
      const owner = await register(app);
      const body = { ...terms, metadata };
      const path = `${owner.path}/invoices`;
      await expectStatus(app.request("POST", path, { token: owner.token, body }), 201);
      expect(await app.app.db.find(organizationAllowances, "")).to.deep.equal([]);
    } finally {
      await app.stop();
    }
  });
});
