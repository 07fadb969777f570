// Invitations over HTTP, on both databases: one token, one address, one use, and no way round the roles.
import { expect } from "chai";
import { roles, type Role } from "../../../src/http/declare/permissions.ts";
import { invitationStatus } from "../../../src/features/members/records.ts";
import { day } from "../../../src/kernel/clock.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import {
  colleague,
  expectStatus,
  keyOf,
  password,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { expectProblem, placeOf } from "../../http/problem.ts";

let invited = 0;
const newAddress = () => `invited${String((invited += 1))}@example.com`;

eachStore("an invitation", (store) => {
  const it = takeTurns(store);
  let app: TestApp;
  let ada: Person;
  let path: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
  });
  beforeEach(async () => {
    ada = await register(app);
    path = `${ada.path}/invitations`;
  });
  after(() => app.stop());

  type Who = { token: string } | { key: string };
  const credential = (who: Who) => ("key" in who ? { key: who.key } : { token: who.token });
  const invite = (email: string, role: Role, who: Who = ada): Promise<Answer> =>
    app.request("POST", path, { ...credential(who), body: { email, role } });
  const tokenFor = async (email: string, role: Role = "member", who: Who = ada) =>
    (await expectStatus(invite(email, role, who), 201)).body["token"] as string;
  const join = (email: string, invitationToken: string, on = app) =>
    on.request("POST", "/v1/auth/register", {
      body: { email, password, name: "Guest", invitationToken },
    });
  const accept = (who: Who, invitationToken: string) =>
    app.request("POST", "/v1/auth/invitations/accept", {
      ...credential(who),
      body: { invitationToken },
    });
  const refused = (answer: Answer) =>
    expect([answer.status, answer.body["code"]]).to.deep.equal([422, "invalid_invitation"]);

  it("shows its token once, and stores only the hash", async () => {
    const email = newAddress();
    const made = await expectStatus(invite(email.toUpperCase(), "admin"), 201);
    const token = made.body["token"] as string;
    expect(token).to.match(/^till_invite_/);
    expect(made.body).to.include({
      email,
      role: "admin",
      status: "pending",
      invitedBy: ada.userId,
    });
    expect(Date.parse(made.body["expiresAt"] as string)).to.equal(
      Date.parse(made.body["createdAt"] as string) + 7 * day,
    );
    const listed = await expectStatus(app.request("GET", path, { token: ada.token }), 200);
    const { token: _token, ...rest } = made.body;
    expect(listed.body["data"]).to.deep.equal([rest]);
    const { db } = app.app;
    for (const table of ["invitations", "audit_logs"]) {
      const rows = JSON.stringify(await db.all(`SELECT * FROM ${table}`));
      expect(rows).not.to.include(token);
    }
  });

  it("makes a new user a member instead of the founder of an organization", async () => {
    const email = newAddress();
    const token = await tokenFor(email, "viewer");
    const session = await expectStatus(join(email, token), 201);
    const memberships = session.body["memberships"] as Record<string, unknown>[];
    expect(memberships.map(({ organizationId, role }) => [organizationId, role])).to.deep.equal([
      [ada.organizationId, "viewer"],
    ]);
    const listed = await app.request("GET", path, { token: session.body["accessToken"] as string });
    expect((listed.body["data"] as Record<string, unknown>[])[0]).to.include({
      status: "accepted",
    });
    const actions = await app.app.db.find(
      auditLogs,
      "WHERE organization_id = $1 AND action LIKE 'invitation.%' ORDER BY id",
      [ada.organizationId],
    );
    expect(actions.map(({ action }) => action)).to.deep.equal([
      "invitation.created",
      "invitation.accepted",
    ]);
  });

  it("makes registration ignore an organization name", async () => {
    const email = newAddress();
    const session = await app.request("POST", "/v1/auth/register", {
      body: {
        email,
        password,
        name: "Guest",
        organizationName: "Never founded",
        invitationToken: await tokenFor(email),
      },
    });
    expect(session.status, session.text).to.equal(201);
    const memberships = session.body["memberships"] as Record<string, unknown>[];
    expect(memberships.map(({ organizationId }) => organizationId)).to.deep.equal([
      ada.organizationId,
    ]);
  });

  it("is required to register without an organization name", async () => {
    const email = newAddress();
    const answer = await app.request("POST", "/v1/auth/register", {
      body: { email, password, name: "" },
    });
    const faults = expectProblem(answer, 400, "invalid_request");
    const required = faults.find((fault) => placeOf(fault) === "/organizationName");
    expect(faults.map(placeOf).sort()).to.deep.equal(["/name", "/organizationName"]);
    expect(required).to.include({
      code: "required",
      message: "is required unless an invitationToken is given",
    });
    // A body that is not an object has one fault, not one for each field.
    const [fault, ...others] = expectProblem(
      await app.request("POST", "/v1/auth/register", { body: "Guest" }),
      400,
      "invalid_request",
    );
    expect([fault?.["pointer"], others]).to.deep.equal(["", []]);
  });

  it("adds a logged-in user, once", async () => {
    const bob = await register(app, "Bob");
    const token = await tokenFor(bob.email, "admin");
    const joined = await expectStatus(accept(bob, token), 200);
    expect(joined.body).to.include({
      organizationId: ada.organizationId,
      userId: bob.userId,
      role: "admin",
    });
    refused(await accept(bob, token));
    const again = await invite(bob.email, "viewer");
    expect([again.status, again.body["code"]]).to.deep.equal([409, "already_member"]);
  });

  it("is valid only for its e-mail address", async () => {
    const [bob, eve] = [await register(app, "Bob"), await register(app, "Eve")];
    const token = await tokenFor(bob.email);
    refused(await accept(eve, token));
    refused(await join(newAddress(), token));
    expect((await accept({ key: await keyOf(app, eve, "write") }, token)).status).to.equal(403);
    await expectStatus(
      app.request("POST", "/v1/auth/invitations/accept", { body: { invitationToken: token } }),
      401,
    );
    // An address that has an account logs in; the token is not used up by the attempt.
    const known = await join(bob.email, token);
    expect([known.status, known.body["code"]]).to.deep.equal([409, "email_unavailable"]);
    await expectStatus(accept(bob, token), 200);
  });

  it.onBoth("is accepted by one of many simultaneous attempts", async () => {
    const bob = await register(app, "Bob");
    const token = await tokenFor(bob.email);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(bob, token)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const answer of answers) if (answer.status !== 200) refused(answer);
    const email = newAddress();
    const second = await tokenFor(email);
    const joined = await Promise.all(Array.from({ length: 4 }, () => join(email, second)));
    expect(joined.filter(({ status }) => status === 201)).to.have.length(1);
  });

  it.onBoth("is accepted or replaced, never both, if both happen at once", async () => {
    const key = { key: await keyOf(app, ada, "write") };
    for (let round = 0; round < 8; round += 1) {
      const bob = await register(app, "Bob");
      // An inviting user has a membership that the others wait for; a key has none.
      const by = round % 2 === 0 ? ada : key;
      const first = await tokenFor(bob.email, "member", by);
      const [joined, ...offers] = await Promise.all([
        accept(bob, first),
        invite(bob.email, "viewer", by),
        invite(bob.email, "viewer", by),
      ]);
      const wasFirst = joined.status === 200;
      if (!wasFirst) refused(joined);
      for (const offer of offers) expect(offer.status).to.equal(wasFirst ? 409 : 201);
      const open = await app.app.db.all(
        "SELECT id FROM invitations WHERE email = $1 AND accepted_at IS NULL AND revoked_at IS NULL",
        [bob.email],
      );
      expect(open).to.have.length(wasFirst ? 0 : 1);
    }
  });

  it("is invalid after 7 days, a revocation, or a newer invitation", async () => {
    const [bob, own] = [await register(app, "Bob"), app.clock];
    const first = await tokenFor(bob.email);
    const second = await expectStatus(invite(bob.email, "viewer"), 201);
    refused(await accept(bob, first));
    const revoke = (id: unknown, who: Who = ada) =>
      app.request("POST", `${path}/${String(id)}/revoke`, credential(who));
    const revoked = await expectStatus(revoke(second.body["id"]), 200);
    expect(revoked.body).to.include({ status: "revoked" });
    expect((await expectStatus(revoke(second.body["id"]), 200)).body).to.deep.equal(revoked.body);
    refused(await accept(bob, second.body["token"] as string));
    const third = await tokenFor(bob.email);
    own.advance(7 * day);
    const later = (
      await app.request("POST", "/v1/auth/login", { body: { email: bob.email, password } })
    ).body["accessToken"] as string;
    refused(await accept({ token: later }, third));
  });

  it("cannot be revoked once accepted", async () => {
    const bob = await register(app, "Bob");
    const made = await expectStatus(invite(bob.email, "viewer"), 201);
    await expectStatus(accept(bob, made.body["token"] as string), 200);
    const answer = await app.request("POST", `${path}/${String(made.body["id"])}/revoke`, {
      token: ada.token,
    });
    expect([answer.status, answer.body["code"]]).to.deep.equal([409, "invitation_accepted"]);
  });

  it("offers at most the role that its creator may grant", async () => {
    const offers = async (who: Who) => {
      const statuses = [];
      for (const role of roles) statuses.push((await invite(newAddress(), role, who)).status);
      return statuses;
    };
    expect(await offers(ada)).to.deep.equal([201, 201, 201, 201]);
    expect(await offers(await colleague(app, ada, "admin"))).to.deep.equal([201, 201, 403, 403]);
    expect(await offers({ key: await keyOf(app, ada, "write") })).to.deep.equal([
      201, 201, 403, 403,
    ]);
    for (const who of [
      await colleague(app, ada, "member"),
      await colleague(app, ada, "viewer"),
      { key: await keyOf(app, ada, "read") },
    ]) {
      expect(await offers(who)).to.deep.equal([403, 403, 403, 403]);
    }
    expect(await offers(await register(app, "Eve"))).to.deep.equal([404, 404, 404, 404]);
  });

  it("can be revoked by an admin who may offer its role, and by no stranger", async () => {
    const admin = await colleague(app, ada, "admin");
    const eve = await register(app, "Eve");
    const revoke = async (role: Role, who: Who, where = path) => {
      const made = await expectStatus(invite(newAddress(), role), 201);
      const url = `${where}/${String(made.body["id"])}/revoke`;
      return (await app.request("POST", url, credential(who))).status;
    };
    expect(await revoke("viewer", admin)).to.equal(200);
    expect(await revoke("admin", admin)).to.equal(403);
    expect(await revoke("viewer", eve)).to.equal(404);
    const elsewhere = `${eve.path}/invitations`;
    expect(await revoke("viewer", eve, elsewhere)).to.equal(404);
  });

  it("loses its validity with its creator's role, so that no removed member returns by it", async () => {
    const owner = await colleague(app, ada, "owner");
    const accomplice = await register(app, "Mal");
    const token = await tokenFor(accomplice.email, "owner", owner);
    const listed = await app.request("GET", `${ada.path}/members`, {
      token: ada.token,
    });
    const data = listed.body["data"] as { id: string; userId: string }[];
    const id = data.find(({ userId }) => userId === owner.userId)?.id ?? "";
    const members = `${ada.path}/members`;
    await expectStatus(
      app.request("PATCH", `${members}/${id}`, { token: ada.token, body: { role: "admin" } }),
      200,
    );
    refused(await accept(accomplice, token));
    await expectStatus(app.request("POST", `${members}/${id}/remove`, { token: ada.token }), 204);
    refused(await accept(accomplice, token));
  });

  it("with a malformed token is refused without a query", async () => {
    const bob = await register(app, "Bob");
    const token = await tokenFor(bob.email);
    const other = await tokenFor(newAddress());
    for (const bad of ["x", token.slice(0, -1), `${token}0`, token.toUpperCase(), other]) {
      refused(await accept(bob, bad));
      refused(await join(bob.email, bad));
    }
    await expectStatus(accept(bob, ""), 400);
  });

  it.onBoth("keeps the response with the token encrypted for its Idempotency-Key", async () => {
    const send = () =>
      app.request("POST", path, {
        token: ada.token,
        body: { email: "once@example.com", role: "viewer" },
        headers: { "Idempotency-Key": "invite once" },
      });
    const first = await expectStatus(send(), 201);
    expect((await send()).body).to.deep.equal(first.body);
    const kept = JSON.stringify(await app.app.db.all("SELECT * FROM idempotency_keys"));
    expect(kept).not.to.include(first.body["token"]);
  });

  it("admits no one to a suspended organization", async () => {
    const bob = await register(app, "Bob");
    const email = newAddress();
    const [one, two] = [await tokenFor(bob.email), await tokenFor(email)];
    await app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE organizations SET status = 'suspended' WHERE id = $1", [ada.organizationId]),
    );
    for (const answer of [await accept(bob, one), await join(email, two)]) {
      expect([answer.status, answer.body["code"]]).to.deep.equal([403, "organization_suspended"]);
    }
    expect((await invite(newAddress(), "viewer")).status).to.equal(403);
  });
});

describe("the status of an invitation", () => {
  it("is pending until it expires, and what happened to it before all else", () => {
    const open = { acceptedAt: null, revokedAt: null, expiresAt: 1_000 };
    expect(invitationStatus(open, 999)).to.equal("pending");
    expect(invitationStatus(open, 1_000)).to.equal("expired");
    expect(invitationStatus({ ...open, revokedAt: 1 }, 1_000)).to.equal("revoked");
    expect(invitationStatus({ ...open, acceptedAt: 1 }, 1_000)).to.equal("accepted");
  });
});

eachStore("registration by invitation", (store) => {
  for (const mode of ["invite", "closed"] as const) {
    it(`${mode === "invite" ? "works" : "is refused"} if registration is ${mode}`, async () => {
      const place = await store.place("migrated");
      const open = await startApp({ place, background: false });
      const ada = await register(open);
      const email = newAddress();
      const made = await open.request("POST", `${ada.path}/invitations`, {
        token: ada.token,
        body: { email, role: "member" },
      });
      await open.stop();
      const app = await startApp({
        place,
        background: false,
        settings: { TILL_REGISTRATION: mode },
      });
      try {
        const join = (invitationToken?: string) =>
          app.request("POST", "/v1/auth/register", {
            body: {
              email,
              password,
              name: "Guest",
              ...(invitationToken === undefined
                ? { organizationName: "Guest's shop" }
                : { invitationToken }),
            },
          });
        const closed = await join();
        expect([closed.status, closed.body["code"]]).to.deep.equal([403, "registration_closed"]);
        const invitedTo = await join(made.body["token"] as string);
        expect(invitedTo.status).to.equal(mode === "invite" ? 201 : 403);
      } finally {
        await app.stop();
      }
    });
  }
});
