import { expect } from "chai";
import {
  eachServed,
  legalFields,
  platformAdmin,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { countRows } from "../../support/store/dump.ts";
import { eachStore, takeTurns } from "../../support/store/stores.ts";
import { expectProblem } from "../../http/problem.ts";

type Decision = "approve" | "reject" | "request_changes";

const pathOf = (person: Person) => person.path;
const submit = (app: TestApp, person: Person) =>
  app.request("POST", `${pathOf(person)}/kyb/submit`, { token: person.token });
const change = (app: TestApp, person: Person, body: object) =>
  app.request("PATCH", pathOf(person), { token: person.token, body });
const decide = (
  app: TestApp,
  admin: Person,
  person: Person,
  decision: Decision,
  note: string | null = "because",
): Promise<Answer> =>
  app.request("POST", `/v1/admin/organizations/${person.organizationId}/verification`, {
    token: admin.token,
    body: { decision, note },
  });
const statusOf = async (app: TestApp, person: Person) =>
  (await app.request("GET", pathOf(person), { token: person.token })).body["verificationStatus"];

/** Registers an organization with everything that a review needs. */
async function complete(app: TestApp): Promise<Person> {
  const person = await register(app);
  await change(app, person, legalFields);
  return person;
}

async function submitted(app: TestApp): Promise<Person> {
  const person = await complete(app);
  expect((await submit(app, person)).status).to.equal(200);
  return person;
}

eachServed("verification", (served) => {
  const it = takeTurns(served.store);
  let admin: Person;
  before(async () => {
    admin = await platformAdmin(served.app);
  });

  it("names all missing fields at once", async () => {
    const { app } = served;
    const person = await register(app);
    const needed = [
      "legalName",
      "registrationNumber",
      "country",
      "address",
      "businessDescription",
      "contactEmail",
    ];
    const pointers = async () =>
      expectProblem(await submit(app, person), 422, "kyb_incomplete").map(({ pointer }) => pointer);
    expect(await pointers()).to.deep.equal(needed.map((name) => `/${name}`));
    await change(app, person, { country: "DE", address: "1 Main Street" });
    expect(await pointers()).to.deep.equal([
      "/legalName",
      "/registrationNumber",
      "/businessDescription",
      "/contactEmail",
    ]);
    await change(app, person, legalFields);
    const answer = await submit(app, person);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ verificationStatus: "pending_review", reviewNote: null });
    expect(answer.body["kybSubmittedAt"]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("allows only its defined transitions", async () => {
    const { app } = served;
    const steps = {
      submit: (person: Person) => submit(app, person),
      approve: (person: Person) => decide(app, admin, person, "approve"),
      reject: (person: Person) => decide(app, admin, person, "reject"),
      request_changes: (person: Person) => decide(app, admin, person, "request_changes"),
    } as const;
    type Step = keyof typeof steps;
    const ways: Record<string, readonly Step[]> = {
      unverified: [],
      pending_review: ["submit"],
      approved: ["submit", "approve"],
      rejected: ["submit", "reject"],
      changes_requested: ["submit", "request_changes"],
    };
    const allowed: Record<string, Partial<Record<Step, string>>> = {
      unverified: { submit: "pending_review" },
      pending_review: {
        approve: "approved",
        reject: "rejected",
        request_changes: "changes_requested",
      },
      approved: {},
      rejected: { submit: "pending_review" },
      changes_requested: { submit: "pending_review" },
    };
    for (const [state, way] of Object.entries(ways)) {
      for (const step of Object.keys(steps) as Step[]) {
        const person = await complete(app);
        for (const earlier of way) expect((await steps[earlier](person)).status).to.equal(200);
        expect(await statusOf(app, person)).to.equal(state);
        const answer = await steps[step](person);
        const next = allowed[state]?.[step];
        if (next === undefined) {
          expectProblem(answer, 409, "verification_conflict");
          expect(await statusOf(app, person), `${step} in ${state}`).to.equal(state);
        } else {
          expect(answer.status, `${step} in ${state}`).to.equal(200);
          expect(await statusOf(app, person)).to.equal(next);
        }
      }
    }
  });

  it("stores note, time and history of every decision", async () => {
    const { app } = served;
    const person = await submitted(app);
    await decide(app, admin, person, "request_changes", "  a better address, please ");
    const read = await app.request("GET", pathOf(person), { token: person.token });
    expect(read.body["reviewNote"]).to.equal("a better address, please");
    await change(app, person, { address: "2 Main Street" });
    await submit(app, person);
    const approved = await decide(app, admin, person, "approve", null);
    expect(approved.body).to.include({ verificationStatus: "approved", reviewNote: null });
    const history = approved.body["reviewHistory"] as Record<string, unknown>[];
    expect(history.map(({ decision }) => decision)).to.deep.equal([
      "approve",
      "submitted",
      "request_changes",
      "submitted",
    ]);
    expect(history[2]).to.include({
      fromStatus: "pending_review",
      toStatus: "changes_requested",
      note: "a better address, please",
      reviewerId: admin.userId,
      reviewerEmail: admin.email,
    });
  });

  it("requires a reason for a refusal", async () => {
    const { app } = served;
    const person = await submitted(app);
    for (const decision of ["reject", "request_changes"] as const) {
      const answer = await decide(app, admin, person, decision, null);
      const faults = expectProblem(answer, 400, "invalid_request");
      expect(faults).to.deep.include.members([
        { pointer: "/note", code: "required", message: faults[0]?.message },
      ]);
    }
    expectProblem(await decide(app, admin, person, "reject", " "), 400, "invalid_request");
    expect(await statusOf(app, person)).to.equal("pending_review");
  });

  it("blocks changes to legal fields and to the name that payers see during the review", async () => {
    const { app } = served;
    const person = await submitted(app);
    for (const body of [
      { legalName: "Other Ltd" },
      { registrationNumber: null },
      { country: "FR", displayName: "Beside it" },
      { displayName: "Your Bank" },
      { address: "Elsewhere" },
      { businessDescription: "Arms" },
    ]) {
      expectProblem(await change(app, person, body), 409, "organization_in_review");
    }
    const read = await app.request("GET", pathOf(person), { token: person.token });
    expect(read.body).to.include({ ...legalFields, displayName: "Ada's shop" });
    // The rest may change, and a legal field may be sent as it is.
    const body = { name: "New", contactEmail: "new@example.com", legalName: legalFields.legalName };
    expect((await change(app, person, body)).body["verificationStatus"]).to.equal("pending_review");
  });

  it("is revoked by a change of a reviewed field, and by nothing else", async () => {
    const { app } = served;
    const person = await submitted(app);
    await decide(app, admin, person, "approve");
    const harmless = { displayName: "Shop", website: "https://shop.example", ...legalFields };
    const kept = await change(app, person, harmless);
    expect(kept.body["verificationStatus"]).to.equal("approved");
    const lost = await change(app, person, { legalName: "Other Ltd" });
    expect(lost.body).to.include({ verificationStatus: "unverified", legalName: "Other Ltd" });
    const events = await app.app.db.all<{ type: string; data: string }>(
      `SELECT type AS "type", payload AS "data" FROM events WHERE organization_id = $1 ORDER BY id`,
      [person.organizationId],
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      "organization.verification_submitted",
      "organization.approved",
      "organization.updated",
      "organization.updated",
    ]);
    expect(JSON.parse(events[3]?.data ?? "{}")).to.include({
      verificationStatus: "unverified",
      previousStatus: "approved",
    });
    expect((await submit(app, person)).status).to.equal(200);
  });

  it("covers the name that payers see: the platform is notified of a new one", async () => {
    const { app } = served;
    const person = await submitted(app);
    const heard = () =>
      countRows(app.app.db, "events", "WHERE organization_id = $1 AND object_id = $2", [
        admin.organizationId,
        person.organizationId,
      ]);
    await change(app, person, { displayName: "Before" });
    expect(await heard()).to.equal(0);
    await decide(app, admin, person, "approve");
    await change(app, person, { displayName: "Your Bank", website: "https://shop.example" });
    await change(app, person, { website: null });
    expect(await heard()).to.equal(1);
    // Of its own name it is not notified twice.
    await change(app, admin, { displayName: "House" });
    const own = [admin.organizationId];
    expect(
      await countRows(app.app.db, "events", "WHERE organization_id = $1 AND object_id = $1", own),
    ).to.equal(1);
  });

  it("shows payers an approved organization's new name only after another decision", async () => {
    const { app } = served;
    const person = await submitted(app);
    await decide(app, admin, person, "approve");
    const names = async () => {
      const { body } = await app.request("GET", pathOf(person), { token: person.token });
      return [body["displayName"], body["pendingDisplayName"], body["verificationStatus"]];
    };
    const before = "Ada's shop";
    await change(app, person, { displayName: "Your Bank" });
    expect(await names()).to.deep.equal([before, "Your Bank", "approved"]);
    expectProblem(
      await decide(app, admin, person, "request_changes"),
      409,
      "verification_conflict",
    );
    expect((await decide(app, admin, person, "reject")).status).to.equal(200);
    expect(await names()).to.deep.equal([before, null, "approved"]);

    await change(app, person, { displayName: "Books" });
    await change(app, person, { displayName: before });
    expect(await names(), "taken back").to.deep.equal([before, null, "approved"]);
    expectProblem(await decide(app, admin, person, "approve"), 409, "verification_conflict");

    await change(app, person, { displayName: "Books" });
    expect((await decide(app, admin, person, "approve", null)).status).to.equal(200);
    expect(await names()).to.deep.equal(["Books", null, "approved"]);

    // Losing the approval opens no way around: payers still see the checkouts that are open.
    await change(app, person, { legalName: "Other Ltd" });
    await change(app, person, { displayName: "Your Bank" });
    expect(await names()).to.deep.equal(["Books", "Your Bank", "unverified"]);
    await submit(app, person);
    await decide(app, admin, person, "approve");
    expect(await names()).to.deep.equal(["Your Bank", null, "approved"]);
  });

  it("cannot be granted by the organization itself", async () => {
    const { app } = served;
    const person = await submitted(app);
    for (const body of [
      { verificationStatus: "approved" },
      { status: "active", verificationStatus: "approved" },
      { reviewNote: null },
      { reviewedAt: null },
    ]) {
      expectProblem(await change(app, person, body), 400, "invalid_request");
    }
    expectProblem(await decide(app, person, person, "approve"), 403, "forbidden");
    expect(await statusOf(app, person)).to.equal("pending_review");
  });
});

eachStore("simultaneous decisions", (store) => {
  it("have one winner, in whichever process", async () => {
    const place = await store.place("migrated");
    const clock = movingClock();
    const [left, right] = [await startApp({ place, clock }), await startApp({ place, clock })];
    try {
      const admin = await platformAdmin(left);
      for (let round = 0; round < 5; round += 1) {
        const person = await submitted(left);
        const answers = await Promise.all([
          decide(left, admin, person, "approve"),
          decide(right, admin, person, "reject"),
          decide(right, admin, person, "approve"),
          decide(left, admin, person, "request_changes"),
        ]);
        const won = answers.filter(({ status }) => status === 200);
        expect(won.length).to.equal(1);
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          expectProblem(answer, 409, "verification_conflict");
        }
        expect(await statusOf(right, person)).to.equal(won[0]?.body["verificationStatus"]);
        const of = [person.organizationId];
        const reviews = "WHERE organization_id = $1 AND decision <> 'submitted'";
        expect(await countRows(left.app.db, "organization_reviews", reviews, of)).to.equal(1);
        const entries =
          "WHERE organization_id = $1 AND action IN ('organization.approved', 'organization.rejected', 'organization.changes_requested')";
        expect(await countRows(left.app.db, "audit_logs", entries, of)).to.equal(1);
      }
    } finally {
      await Promise.all([left.stop(), right.stop()]);
    }
  });

  it("and a change of a reviewed field never approve what no one has read", async () => {
    const app = await startApp({ place: await store.place("migrated") });
    try {
      const admin = await platformAdmin(app);
      for (let round = 0; round < 5; round += 1) {
        const person = await submitted(app);
        const [decision, changed] = await Promise.all([
          decide(app, admin, person, "approve"),
          change(app, person, { legalName: `Changed ${String(round)}` }),
        ]);
        expect(decision.status).to.equal(200);
        const read = await app.request("GET", pathOf(person), { token: person.token });
        if (changed.status === 200) {
          expect(read.body["verificationStatus"]).to.equal("unverified");
        } else {
          expectProblem(changed, 409, "organization_in_review");
          expect(read.body).to.include({
            verificationStatus: "approved",
            legalName: legalFields.legalName,
          });
        }
      }
    } finally {
      await app.stop();
    }
  });
});
