// The audit log over HTTP, on both databases: who may read which entries, and which filters find them.
import { expect } from "chai";
import { roles } from "../../../src/http/declare/permissions.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import { createSealer } from "../../../src/platform/audit/head.ts";
import { verifyAudit } from "../../../src/platform/audit/verify.ts";
import { appOf } from "../../support/context.ts";
import {
  colleague,
  expectStatus,
  keyOf,
  password,
  platformAdmin,
  register,
  startApp,
  walk,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { auditKey } from "../../support/secret.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { pointersOf } from "../../http/problem.ts";

interface Entry {
  readonly id: string;
  readonly organizationId: string | null;
  readonly action: string;
  readonly actorId: string | null;
  readonly targetId: string;
  readonly createdAt: string;
  readonly hash: string | null;
}

const many = testsAll ? 250 : 50;

eachStore("the audit log", (store) => {
  let app: TestApp;
  let ada: Person;
  let root: Person;
  let home: string;
  let path: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    root = await platformAdmin(app);
  });
  beforeEach(async () => {
    app.clock.advance(second);
    ada = await register(app);
    home = `/v1/organizations/${ada.organizationId}`;
    path = `${home}/audit-logs`;
  });
  after(() => app.stop());

  const list = (query: Record<string, string> = {}, who: Person = ada, where = path) =>
    app.request("GET", `${where}?${new URLSearchParams(query).toString()}`, { token: who.token });
  const entries = (answer: Answer) => {
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body["data"] as Entry[];
  };
  const actions = (answer: Answer) => entries(answer).map(({ action }) => action);
  const customer = (name: string, who: { token: string } | { key: string } = ada) =>
    expectStatus(
      app.request("POST", `${home}/customers`, {
        ...("key" in who ? { key: who.key } : { token: who.token }),
        body: { name },
      }),
      201,
    );

  it("lists actions, newest first", async () => {
    const made = await customer("Grace");
    const answer = await list();
    expect(actions(answer)).to.deep.equal([
      "customer.created",
      "member.added",
      "organization.created",
    ]);
    const [entry] = entries(answer);
    expect(entry).to.include({
      organizationId: ada.organizationId,
      actorType: "user",
      actorId: ada.userId,
      actorLabel: ada.email,
      targetType: "customer",
      targetId: made.body["id"],
      requestId: made.headers.get("X-Request-Id"),
      hash: null,
    });
    expect(entry).to.have.property("ip").that.is.a("string");
    expect(entry).to.deep.nested.include({ "changes.name": "Grace" });
  });

  it("has times in the API's format", async () => {
    const expiresAt = new Date(app.clock.now() + minute).toISOString();
    await expectStatus(
      app.request("POST", `${home}/api-keys`, {
        token: ada.token,
        body: { name: "k", scopes: ["read"], expiresAt },
      }),
      201,
    );
    const invited = await expectStatus(
      app.request("POST", `${home}/invitations`, {
        token: ada.token,
        body: { email: "grace@example.com", role: "viewer" },
      }),
      201,
    );
    const [invitation, key] = entries(await list());
    expect(key).to.deep.nested.include({
      action: "api_key.created",
      "changes.expiresAt": expiresAt,
    });
    expect(invitation).to.deep.nested.include({
      action: "invitation.created",
      "changes.expiresAt": invited.body["expiresAt"],
    });
  });

  it("shows the hash once the entries are sealed", async () => {
    await customer("Grace");
    await verifyAudit(app.app.db, auditKey, testContext);
    for (const { hash } of entries(await list())) expect(hash).to.match(/^[0-9a-f]{64}$/);
  });

  it("can be read by every role and key of the organization, and by no one else", async () => {
    for (const role of roles) entries(await list({}, await colleague(app, ada, role)));
    await expectStatus(app.request("GET", path, { key: await keyOf(app, ada, "read") }), 200);
    const eve = await register(app, "Eve");
    for (const stranger of [eve, root]) expect((await list({}, stranger)).status).to.equal(404);
    await expectStatus(app.request("GET", path, { key: await keyOf(app, eve, "write") }), 404);
    await expectStatus(app.request("GET", path), 401);
    await expectStatus(app.request("POST", path, { token: ada.token }), 405);
  });

  it("shows an organization nothing of another, and nothing that concerns only a user", async () => {
    await app.request("POST", "/v1/auth/login", { body: { email: ada.email, password } });
    await customer("Grace");
    const all = (await walk(app, path, ada.token, 100)) as unknown as Entry[];
    expect(new Set(all.map(({ organizationId }) => organizationId))).to.deep.equal(
      new Set([ada.organizationId]),
    );
    expect(all.map(({ action }) => action)).not.to.include("session.opened");
  });

  it("filters by complete action and actor, never by pattern", async () => {
    const key = await keyOf(app, ada, "write");
    await customer("By hand");
    await customer("By key", { key });
    expect(actions(await list({ action: "customer.created" }))).to.have.length(2);
    const byKey = entries(await list({ action: "customer.created" })).filter(
      ({ actorId }) => actorId !== ada.userId,
    );
    expect(byKey).to.have.length(1);
    const keyId = byKey[0]?.actorId ?? "";
    expect(actions(await list({ actorId: keyId }))).to.deep.equal(["customer.created"]);
    expect(actions(await list({ actorId: ada.userId, action: "customer.created" }))).to.have.length(
      1,
    );
    for (const action of ["customer.%", "customer_created", "%", "customer", "' OR 1=1 --", ""]) {
      expect(actions(await list({ action })), action).to.deep.equal([]);
    }
    for (const actorId of ["%", "usr_%", `${ada.userId}%`]) {
      expect(actions(await list({ actorId })), actorId).to.deep.equal([]);
    }
  });

  it("filters by time: createdFrom is inclusive, createdTo exclusive, and the deprecated names are equivalent", async () => {
    const times: string[] = [];
    for (const name of ["one", "two", "three"]) {
      app.clock.advance(10 * second);
      const { body } = await customer(name);
      times.push(body["createdAt"] as string);
    }
    const [one, two, three] = times as [string, string, string];
    const found = async (query: Record<string, string>) =>
      entries(await list({ action: "customer.created", ...query })).map(
        ({ createdAt }) => createdAt,
      );
    expect(await found({ createdFrom: two })).to.deep.equal([three, two]);
    expect(await found({ createdTo: two })).to.deep.equal([one]);
    expect(await found({ from: two, to: three })).to.deep.equal([two]);
    const otherZone = two.replace("Z", "+00:00");
    expect(await found({ from: two, createdFrom: otherZone })).to.deep.equal([three, two]);
    for (const [old, name] of [
      ["from", "createdFrom"],
      ["to", "createdTo"],
    ] as const) {
      expect(pointersOf(await list({ [old]: one, [name]: two }))).to.deep.equal([`?${old}`]);
    }
    expect(await found({ createdFrom: one, createdTo: three })).to.deep.equal([two, one]);
    expect(await found({ createdFrom: three, createdTo: one })).to.deep.equal([]);
    for (const from of ["yesterday", "2026-01-01", "1767225600000", "2026-02-30T00:00:00.000Z"]) {
      expect((await list({ from })).status, from).to.equal(400);
    }
  });

  it("filters by the entry's time even if its id is ahead", async () => {
    const { clock, ids, db } = app.app;
    const at = clock.now();
    // Somebody else's id was made in this process a little later, as while a transaction was waiting.
    ids.next("auditLog", at + 20 * second);
    await customer("Behind");
    const [row] = await db.all<{ id: string; at: number }>(
      `SELECT id AS "id", created_at AS "at" FROM audit_logs WHERE organization_id = $1 ORDER BY id DESC LIMIT 1`,
      [ada.organizationId],
    );
    const time = new Date(row?.at ?? 0).toISOString();
    const until = new Date((row?.at ?? 0) + 1).toISOString();
    const found = entries(await list({ createdFrom: time, createdTo: until }));
    expect(found.map(({ id }) => id)).to.deep.equal([row?.id]);
    app.clock.advance(minute);
  });

  it(`paginates ${String(many)} entries by 7 without loss or repetition while more are written`, async () => {
    for (let batch = 0; batch < many / 25; batch += 1) {
      await Promise.all(Array.from({ length: 25 }, (_, n) => customer(String(n))));
    }
    const before = await walk(app, path, ada.token, 100);
    expect(before).to.have.length(many + 2);
    const walked = await walk(app, path, ada.token, 7, async (page) => {
      if (page % 5 === 0) await customer("Late");
    });
    expect(walked.map(({ id }) => id)).to.deep.equal(before.map(({ id }) => id));
    const some = await list({ limit: "7", action: "customer.created" });
    const cursor = some.body["nextCursor"] as string;
    expect((await list({ cursor })).status).to.equal(400);
    expect((await list({ cursor }, root, "/v1/admin/audit-logs")).status).to.equal(400);
  });

  describe("for the platform", () => {
    const admin = (query: Record<string, string> = {}, who: Person = root) =>
      list(query, who, "/v1/admin/audit-logs");

    it("shows every organization's entries, and those that concern only a user", async () => {
      await customer("Grace");
      const eve = await register(app, "Eve");
      const seen = entries(await admin({ limit: "100" }));
      const organizations = new Set(seen.map(({ organizationId }) => organizationId));
      expect([...organizations]).to.include.members([ada.organizationId, eve.organizationId, null]);
      const logins = entries(await admin({ action: "session.opened" }));
      expect(logins.map(({ organizationId }) => organizationId)).to.include(null);
    });

    it("can be filtered by organization, action, actor and time", async () => {
      const made = await customer("Grace");
      const own = entries(await admin({ organizationId: ada.organizationId }));
      expect(own).to.deep.equal(entries(await list()));
      const query = { action: "customer.created", actorId: ada.userId };
      const [entry, ...rest] = entries(await admin(query));
      expect([entry?.targetId, rest]).to.deep.equal([made.body["id"], []]);
      const time = String(made.body["createdAt"]);
      expect(
        entries(await admin({ ...query, createdFrom: time })).map(({ id }) => id),
      ).to.deep.equal([entry?.id]);
      expect(entries(await admin({ ...query, createdTo: time }))).to.deep.equal([]);
      expect((await admin({ organizationId: "org_1" })).status).to.equal(400);
    });

    it("is only for platform admins and keys with the scope platform", async () => {
      const key = await keyOf(app, root, "platform");
      await expectStatus(app.request("GET", "/v1/admin/audit-logs", { key }), 200);
      expect((await admin({}, ada)).status).to.equal(403);
      expect((await admin({}, await colleague(app, root, "member"))).status).to.equal(403);
      expect((await admin({}, await colleague(app, root, "admin"))).status).to.equal(200);
      const write = await keyOf(app, root, "read", "write");
      await expectStatus(app.request("GET", "/v1/admin/audit-logs", { key: write }), 403);
      await expectStatus(app.request("GET", "/v1/admin/audit-logs"), 401);
    });
  });
});

eachStore("the sealing of the audit log", (store) => {
  it("happens within two seconds: its work is due twice a second, and new entries are always work", async () => {
    const app = await startApp({ place: await store.place("migrated") });
    try {
      const { db } = app.app;
      const { leases } = appOf({ db });
      const { everyMs } = createSealer({ db, key: auditKey, leases, context: testContext });
      expect(everyMs).to.be.at.most(second / 2);
      const { token, organizationId } = await register(app);
      const home = `/v1/organizations/${organizationId}`;
      const isSealed = async () => {
        const { body } = await app.request("GET", `${home}/audit-logs`, { token });
        return (body["data"] as { hash: string | null }[]).every(({ hash }) => hash !== null);
      };
      for (let count = 0; count < 3; count += 1) {
        const body = { name: `Customer ${String(count)}` };
        await expectStatus(app.request("POST", `${home}/customers`, { token, body }), 201);
        await until("a seal", isSealed, Boolean);
      }
      const { fault, entries } = await verifyAudit(app.app.db, auditKey, testContext);
      expect(fault).to.equal(null);
      expect(entries).to.be.greaterThan(2);
    } finally {
      await app.stop();
    }
  });
});
