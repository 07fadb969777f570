import { expect } from "chai";
import {
  eachServed,
  legalFields,
  password,
  platformAdmin,
  register,
  type Answer,
  type Person,
} from "../../support/app.ts";

interface Entry {
  readonly action: string;
  readonly actorType: string;
  readonly actorId: string | null;
  readonly actorLabel: string;
  readonly organizationId: string | null;
  readonly targetId: string;
  readonly ip: string | null;
  readonly changes: string;
}

eachServed("the audit entries of a request", (served) => {
  let admin: Person;
  let person: Person;
  let path: string;

  before(async () => {
    admin = await platformAdmin(served.app);
    person = await register(served.app);
    ({ path } = person);
  });

  const entriesOf = (answer: Answer) =>
    served.app.app.db.all<Entry>(
      `SELECT action AS "action", actor_type AS "actorType", actor_id AS "actorId",
         actor_label AS "actorLabel", organization_id AS "organizationId", target_id AS "targetId",
         ip AS "ip", changes AS "changes"
       FROM audit_logs WHERE request_id = $1 ORDER BY id`,
      [answer.headers.get("X-Request-Id") ?? ""],
    );

  /** The actions of a request, all of which must name the same actor and the client. */
  async function actionsOf(answer: Answer, status: number, actor: string): Promise<string[]> {
    expect(answer.status, answer.text).to.equal(status);
    const entries = await entriesOf(answer);
    for (const entry of entries) {
      expect(entry.actorId, entry.action).to.equal(actor);
      expect(entry.ip).to.equal("127.0.0.1");
      expect(entry.changes).not.to.include(password);
    }
    return entries.map(({ action }) => action);
  }

  it("name the new user who registers", async () => {
    const body = { email: "audited@example.com", password, name: "A", organizationName: "B" };
    const answer = await served.app.request("POST", "/v1/auth/register", { body });
    const { id } = answer.body["user"] as { id: string };
    const memberships = answer.body["memberships"] as { organizationId: string }[];
    expect(await actionsOf(answer, 201, id)).to.deep.equal([
      "user.created",
      "organization.created",
      "member.added",
      "session.opened",
    ]);
    const entries = await entriesOf(answer);
    expect(entries.map(({ actorLabel }) => actorLabel)).to.deep.equal(
      entries.map(() => "audited@example.com"),
    );
    expect(entries[1]?.organizationId).to.equal(memberships[0]?.organizationId);
    expect(entries[0]?.organizationId).to.equal(null);
  });

  it("name the user of a session that is opened, refreshed and ended", async () => {
    const { app } = served;
    const send = (name: string, body: object) => app.request("POST", `/v1/auth/${name}`, { body });
    const login = await send("login", { email: person.email, password });
    expect(await actionsOf(login, 200, person.userId)).to.deep.equal(["session.opened"]);
    const { refreshToken } = login.body;
    const refreshed = await send("refresh", { refreshToken });
    expect(await actionsOf(refreshed, 200, person.userId)).to.deep.equal(["session.refreshed"]);
    const repeated = await send("refresh", { refreshToken });
    expect(await actionsOf(repeated, 200, person.userId)).to.deep.equal([]);
    const ended = await send("logout", { refreshToken });
    expect(await actionsOf(ended, 204, person.userId)).to.deep.equal(["session.revoked"]);
  });

  it("record an organization's values before and after, and the actor", async () => {
    const { app } = served;
    const { token } = person;
    const changed = await app.request("PATCH", path, {
      token,
      body: { ...legalFields, name: "N" },
    });
    expect(await actionsOf(changed, 200, person.userId)).to.deep.equal(["organization.updated"]);
    const [entry] = await entriesOf(changed);
    const changes = JSON.parse(entry?.changes ?? "{}") as Record<string, unknown>;
    expect(changes["name"]).to.deep.equal({ from: "Ada's shop", to: "N" });
    expect(changes["country"]).to.deep.equal({ from: null, to: "DE" });
    expect(changes).not.to.have.any.keys("displayName", "website", "verificationStatus", "version");
    const same = await app.request("PATCH", path, { token, body: { name: "N" } });
    expect(await actionsOf(same, 200, person.userId)).to.deep.equal([]);

    const submitted = await app.request("POST", `${path}/kyb/submit`, { token });
    expect(await actionsOf(submitted, 200, person.userId)).to.deep.equal([
      "organization.verification_submitted",
    ]);
    const decided = await app.request(
      "POST",
      `/v1/admin/organizations/${person.organizationId}/verification`,
      { token: admin.token, body: { decision: "reject", note: "no" } },
    );
    expect(await actionsOf(decided, 200, admin.userId)).to.deep.equal(["organization.rejected"]);
    expect((await entriesOf(decided))[0]?.organizationId).to.equal(person.organizationId);
  });

  it("name the key that created a key, and never its secret", async () => {
    const { app } = served;
    const create = (credential: object) =>
      app.request("POST", `${path}/api-keys`, {
        ...credential,
        body: { name: "k", scopes: ["read", "write"] },
      });
    const first = await create({ token: person.token });
    expect(await actionsOf(first, 201, person.userId)).to.deep.equal(["api_key.created"]);
    const key = first.body["secret"] as string;
    const second = await create({ key });
    expect(await actionsOf(second, 201, first.body["id"] as string)).to.deep.equal([
      "api_key.created",
    ]);
    const [entry] = await entriesOf(second);
    expect(entry).to.include({ actorType: "api_key", actorLabel: "k" });
    expect(entry?.changes).not.to.include((second.body["secret"] as string).slice(0, 20));
    const revoked = await app.request(
      "POST",
      `${path}/api-keys/${second.body["id"] as string}/revoke`,
      { key },
    );
    expect(await actionsOf(revoked, 200, first.body["id"] as string)).to.deep.equal([
      "api_key.revoked",
    ]);
  });

  it("are not written for refused or repeated requests", async () => {
    const { app } = served;
    const headers = { "Idempotency-Key": "audit-once" };
    const found = () =>
      app.request("POST", "/v1/organizations", {
        token: person.token,
        body: { name: "Once" },
        headers,
      });
    expect((await entriesOf(await found())).length).to.equal(2);
    expect((await entriesOf(await found())).length).to.equal(0);
    const refused = [
      await app.request("PATCH", path, { token: person.token, body: { name: "" } }),
      await app.request("PATCH", path, { body: { name: "x" } }),
      await app.request("PATCH", path, {
        token: person.token,
        body: { name: "x" },
        headers: { "If-Match": '"stale"' },
      }),
      await app.request("POST", "/v1/auth/login", {
        body: { email: person.email, password: "wrong one" },
      }),
      await app.request("PATCH", path, { token: admin.token, body: { name: "x" } }),
    ];
    for (const answer of refused) {
      expect(answer.status).to.be.within(400, 412);
      expect(await entriesOf(answer)).to.deep.equal([]);
    }
  });
});
