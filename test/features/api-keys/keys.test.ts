import { request as httpRequest, type IncomingMessage } from "node:http";
import { expect } from "chai";
import {
  authenticateKey,
  getApiKey,
  flushLastUses,
  createApiKey,
} from "../../../src/features/api-keys/api-keys.ts";
import { scopes } from "../../../src/http/declare/permissions.ts";
import type { OperatorActor } from "../../../src/kernel/actor.ts";
import { hour } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { newToken, systemRandom } from "../../../src/platform/secrets/tokens.ts";
import {
  approvedMerchant,
  colleague,
  eachServed,
  expectStatus,
  keyOf,
  password,
  platformAdmin,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { countRows, dumpStore } from "../../support/store/dump.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { expectProblem, pointersOf } from "../../http/problem.ts";

const operator: OperatorActor = { type: "operator", id: null, label: "tests@localhost" };

type Credential = { readonly key: string } | { readonly token: string };

function create(
  app: TestApp,
  organizationId: string,
  credential: Credential,
  body: object,
): Promise<Answer> {
  return app.request("POST", `/v1/organizations/${organizationId}/api-keys`, {
    ...credential,
    body: { name: "k", ...body },
  });
}

eachServed("API keys", (served) => {
  const it = takeTurns(served.store);
  let person: Person;
  let path: string;

  before(async () => {
    person = await register(served.app);
    ({ path } = person);
  });

  const make = (credential: Credential, body: object) =>
    create(served.app, person.organizationId, credential, body);

  it("show their secret once, and are stored as a hash", async () => {
    const { app } = served;
    const made = await make(person, { scopes: ["read"] });
    expect(made.status).to.equal(201);
    const secret = made.body["secret"] as string;
    expect(secret).to.match(/^till_test_[0-9A-Za-z]{49}$/);
    expect(made.body).to.include({
      name: "k",
      prefix: secret.slice(0, 14),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
    });
    expect((await app.request("GET", path, { key: secret })).status).to.equal(200);
    const dump = await dumpStore(app.app.db);
    expect(dump).to.include(secret.slice(0, 14)).and.not.include(secret.slice(0, 20));
    const revoked = await app.request(
      "POST",
      `${path}/api-keys/${made.body["id"] as string}/revoke`,
      {
        token: person.token,
      },
    );
    expect(revoked.text).not.to.include(secret);
  });

  it.onBoth("are refused once revoked, and may be revoked twice", async () => {
    const { app } = served;
    const made = await make(person, { scopes: ["read"] });
    const revoke = () =>
      app.request("POST", `${path}/api-keys/${made.body["id"] as string}/revoke`, {
        token: person.token,
      });
    const answers = await Promise.all([revoke(), revoke(), revoke()]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    const key = made.body["secret"] as string;
    expectProblem(await app.request("GET", path, { key }), 401, "unauthenticated");
    const where = "WHERE action = 'api_key.revoked' AND target_id = $1";
    expect(await countRows(app.app.db, "audit_logs", where, [made.body["id"] as string])).to.equal(
      1,
    );
  });

  it("are refused once expired", async () => {
    const { app } = served;
    const end = new Date(app.clock.now() + hour).toISOString();
    const made = await make(person, { scopes: ["read"], expiresAt: end });
    expect(made.body["expiresAt"]).to.equal(end);
    const key = made.body["secret"] as string;
    expect((await app.request("GET", path, { key })).status).to.equal(200);
    app.clock.advance(hour);
    expectProblem(await app.request("GET", path, { key }), 401, "unauthenticated");
    person = { ...person, ...(await login(app, person)) };
    const past = new Date(app.clock.now()).toISOString();
    expect(pointersOf(await make(person, { scopes: ["read"], expiresAt: past }))).to.deep.equal([
      "/expiresAt",
    ]);
  });

  it("are unknown if nobody made them, and so is an organization that nobody founded", async () => {
    const { app } = served.app;
    expect(await authenticateKey(app, newToken("testKey", systemRandom))).to.equal(null);
    const organizationId = "org_00000000000000000000000000" as Id<"organization">;
    const created = createApiKey(app, testContext, organizationId, { name: "k", scopes: ["read"] });
    const found = getApiKey(app, "key_00000000000000000000000000");
    for (const missing of [created, found]) {
      const error = await missing.catch((thrown: unknown) => thrown);
      expect(error).to.include({ status: 404, code: "not_found" });
    }
  });

  it("accept only valid names, scopes and expiry times", async () => {
    for (const [body, pointers] of [
      [{ scopes: [] }, ["/scopes"]],
      [{ scopes: ["read", "read"] }, ["/scopes"]],
      [{ scopes: ["all"] }, ["/scopes/0"]],
      [{ scopes: ["read", "Shop", "payments"] }, ["/scopes/1", "/scopes/2"]],
      [{ scopes: "read" }, ["/scopes"]],
      [{ scopes: ["read"], expiresAt: "tomorrow" }, ["/expiresAt"]],
      [{ scopes: ["read"], expiresAt: "2027-02-30T00:00:00.000Z" }, ["/expiresAt"]],
      [{ scopes: ["read"], expiresAt: 5 }, ["/expiresAt"]],
      [{ scopes: ["read"], name: " " }, ["/name"]],
      [{ name: null }, ["/name", "/scopes"]],
    ] as const) {
      expect(pointersOf(await make(person, body)), JSON.stringify(body)).to.deep.equal(pointers);
    }
  });

  it("are created by admins and owners", async () => {
    const { app } = served;
    for (const [role, status] of [
      ["viewer", 403],
      ["member", 403],
      ["admin", 201],
    ] as const) {
      const made = await make(await colleague(app, person, role), { scopes: ["read", "write"] });
      expect(made.status, role).to.equal(status);
    }
  });

  it("cannot grant scopes that they do not have", async () => {
    const { app } = served;
    const soon = new Date(app.clock.now() + hour).toISOString();
    const later = new Date(app.clock.now() + 2 * hour).toISOString();
    const write = { key: await keyOf(app, person, "write") };
    const brief = await make(person, { scopes: ["read", "write"], expiresAt: soon });
    const short = { key: brief.body["secret"] as string };
    const read = { key: await keyOf(app, person, "read") };

    expectProblem(await make(read, { scopes: ["read"] }), 403, "forbidden");
    expect((await make(write, { scopes: ["read"] })).status).to.equal(201);
    expect((await make(write, { scopes: ["write"], expiresAt: later })).status).to.equal(201);
    expect((await make(short, { scopes: ["read"], expiresAt: soon })).status).to.equal(201);
    for (const body of [{}, { expiresAt: null }, { expiresAt: later }]) {
      const answer = await make(short, { scopes: ["read"], ...body });
      expectProblem(answer, 403, "expiry_not_allowed");
    }
    // The permission to create keys needs the scope write; the service does not rely on it.
    const reader = await authenticateKey(app.app, read.key);
    const actor = reader?.principal ?? expect.fail("the key is unknown");
    expect((await getApiKey(app.app, actor.id)).scopes).to.deep.equal(["read"]);
    const error = await createApiKey(app.app, { ...testContext, actor }, actor.organizationId, {
      name: "k",
      scopes: ["write"],
    }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ status: 403, code: "scope_not_allowed" });
    for (const credential of [write, short, person]) {
      for (const wanted of [["platform"], ["read", "platform"]]) {
        const answer = await make(credential, { scopes: wanted, expiresAt: soon });
        expectProblem(answer, 403, "scope_not_allowed");
      }
    }
  });

  it.onBoth("grant a narrow scope only what it may do itself", async () => {
    const { app } = served;
    const soon = new Date(app.clock.now() + hour).toISOString();
    const later = new Date(app.clock.now() + 2 * hour).toISOString();
    const narrow = scopes.filter((scope) => scope !== "billing" && scope !== "platform");
    /** The scopes that a key with these scopes grants, each tried alone. */
    const grantedBy = async (credential: Credential) => {
      const granted: string[] = [];
      for (const scope of scopes) {
        const answer = await make(credential, { scopes: [scope], expiresAt: soon });
        if (answer.status === 201) granted.push(scope);
        else expectProblem(answer, 403, "scope_not_allowed");
      }
      return granted;
    };
    const keyWith = async (...held: readonly string[]) => ({
      key: await keyOf(app, person, ...held),
    });
    const before = await countRows(app.app.db, "api_keys");
    expect(await grantedBy(await keyWith("keys"))).to.deep.equal(["keys"]);
    expect(await countRows(app.app.db, "api_keys")).to.equal(before + 2);
    expect(await grantedBy(await keyWith("keys", "read"))).to.deep.equal([
      "read",
      "keys",
      "exports",
    ]);
    expect(await grantedBy(await keyWith("keys", "shop"))).to.deep.equal([
      ...["shop", "invoices", "customers", "links", "keys"],
    ]);
    expect(await grantedBy(await keyWith("keys", "members"))).to.deep.equal(["keys", "members"]);
    expect(await grantedBy(await keyWith("write"))).to.deep.equal(narrow);
    expect(await grantedBy(await colleague(app, person, "admin"))).to.deep.equal(narrow);

    // With a wrong scope beside a right one no key is created, and the refusal names it.
    const keys = await keyWith("keys");
    const mixed = await make(keys, { scopes: ["keys", "wallets", "shop"], expiresAt: soon });
    expectProblem(mixed, 403, "scope_not_allowed");
    expect(mixed.body["detail"]).to.include("A key with keys cannot grant wallets, shop,");
    // A key that makes keys is bound by its own life too.
    const brief = await make(person, { scopes: ["keys"], expiresAt: soon });
    const short = { key: brief.body["secret"] as string };
    expect((await make(short, { scopes: ["keys"], expiresAt: soon })).status).to.equal(201);
    for (const body of [{}, { expiresAt: later }]) {
      expectProblem(await make(short, { scopes: ["keys"], ...body }), 403, "expiry_not_allowed");
    }
    // Once revoked, it creates no key; and the organization of others does not exist for it.
    await expectStatus(
      app.request("POST", `${path}/api-keys/${brief.body["id"] as string}/revoke`, keys),
      200,
    );
    expectProblem(await make(short, { scopes: ["keys"], expiresAt: soon }), 401, "unauthenticated");
    const stranger = await register(app);
    const elsewhere = await create(app, stranger.organizationId, keys, { scopes: ["keys"] });
    expectProblem(elsewhere, 404, "not_found");
  });

  it("with the scopes keys and members together make no admin, and nobody who makes keys", async () => {
    const { app } = served;
    const key = await keyOf(app, person, "keys", "members");
    const invite = (role: string) =>
      app.request("POST", `${path}/invitations`, {
        key,
        body: { email: `${role}-${String(app.clock.now())}@example.com`, role },
      });
    for (const role of ["admin", "owner"]) expectProblem(await invite(role), 403, "forbidden");
    const invited = await expectStatus(invite("member"), 201);
    const joined = await app.request("POST", "/v1/auth/register", {
      body: {
        email: invited.body["email"],
        password,
        name: "Invited",
        invitationToken: invited.body["token"],
      },
    });
    expect(joined.status, joined.text).to.equal(201);
    const token = joined.body["accessToken"] as string;
    expectProblem(await make({ token }, { scopes: ["keys"] }), 403, "forbidden");
    const { body } = await app.request("GET", `${path}/members?limit=100`, { key });
    const members = body["data"] as readonly { id: string; role: string; userId: string }[];
    for (const { id, role } of members) {
      const raised = await app.request("PATCH", `${path}/members/${id}`, {
        key,
        body: { role: "admin" },
      });
      expectProblem(raised, 403, "forbidden");
      if (role !== "owner" && role !== "admin") continue;
      const removed = await app.request("POST", `${path}/members/${id}/remove`, { key });
      expectProblem(removed, 403, "forbidden");
    }
  });

  it("made by a narrow key are the same one when the request is repeated, for that key alone", async () => {
    const { app } = served;
    const first = await keyOf(app, person, "keys");
    const second = await keyOf(app, person, "keys");
    const id = `again-${String(app.clock.now())}`;
    const send = (key: string, wanted: readonly string[]) =>
      app.request("POST", `${path}/api-keys`, {
        key,
        body: { name: "k", scopes: wanted },
        headers: { "Idempotency-Key": id },
      });
    // A refusal is not kept, so that it cannot be replayed as a success nor block a right request.
    expectProblem(await send(first, ["write"]), 403, "scope_not_allowed");
    const made = await send(first, ["keys"]);
    expect(made.status, made.text).to.equal(201);
    const again = await send(first, ["keys"]);
    expect(again.body).to.deep.equal(made.body);
    expectProblem(await send(first, ["write"]), 422, "idempotency_key_reused");
    const other = await send(second, ["keys"]);
    expect(other.body["id"]).not.to.equal(made.body["id"]);
  });

  it("create organizations for the user who created the key, and for no one else", async () => {
    const { app } = served;
    const foundBy = (key: string) =>
      app.request("POST", "/v1/organizations", { key, body: { name: "Founded" } });
    const write = await keyOf(app, person, "write");
    const made = await foundBy(write);
    expect(made.status).to.equal(201);
    const id = made.body["id"] as string;
    expect(
      (await app.request("GET", `/v1/organizations/${id}`, { token: person.token })).status,
    ).to.equal(200);
    expectProblem(
      await app.request("GET", `/v1/organizations/${id}`, { key: write }),
      404,
      "not_found",
    );
    const where = "WHERE organization_id = $1 AND user_id = $2 AND role = 'owner'";
    expect(await countRows(app.app.db, "memberships", where, [id, person.userId])).to.equal(1);

    expectProblem(await foundBy(await keyOf(app, person, "read")), 403, "forbidden");
    const context = { actor: operator, requestId: null, ip: null };
    const operators = await createApiKey(
      app.app,
      context,
      person.organizationId as Id<"organization">,
      { name: "by the operator", scopes: ["read", "write"] },
    );
    expectProblem(await foundBy(operators.secret), 403, "key_has_no_owner");
    // A key created by such a key has no owner either.
    const second = await make({ key: operators.secret }, { scopes: ["write"] });
    expectProblem(await foundBy(second.body["secret"] as string), 403, "key_has_no_owner");
    // A key speaks for its creator through another key too.
    const third = await make({ key: write }, { scopes: ["write"] });
    expect((await foundBy(third.body["secret"] as string)).status).to.equal(201);
  });

  it("survive when their creator leaves, and record their last use", async () => {
    const { app } = served;
    const admin = await colleague(app, person, "admin");
    const key = await keyOf(app, admin, "read");
    await app.app.db.write(testContext, (tx) =>
      tx.run("DELETE FROM memberships WHERE user_id = $1 AND organization_id = $2", [
        admin.userId,
        person.organizationId,
      ]),
    );
    expectProblem(await app.request("GET", path, { token: admin.token }), 404, "not_found");
    const usedAt = app.clock.now();
    expect((await app.request("GET", path, { key })).status).to.equal(200);
    await flushLastUses(app.app, testContext);
    // The app's own flush may have taken the use just before, and still be storing it.
    const [row] = await until(
      "the key's use",
      () =>
        app.app.db.all<{ at: number | null }>(
          `SELECT last_used_at AS "at" FROM api_keys WHERE prefix = $1`,
          [key.slice(0, 14)],
        ),
      ([found]) => typeof found?.at === "number",
    );
    expect(row?.at).to.be.within(usedAt, app.clock.now());
  });

  it("record the last use of each, at most once a minute", async () => {
    const { app } = served;
    const keys = await Promise.all([0, 1, 2].map(() => keyOf(app, person, "read")));
    const use = (place: number) =>
      expectStatus(app.request("GET", path, { key: keys[place] ?? "" }), 200);
    const start = app.clock.now();
    /** The minutes after the start at which each key was used. */
    const uses = async () => {
      await flushLastUses(app.app, testContext);
      const rows = await app.app.db.all<{ prefix: string; at: number | null }>(
        `SELECT prefix AS "prefix", last_used_at AS "at" FROM api_keys`,
      );
      return keys.map((key) => {
        const at = rows.find(({ prefix }) => prefix === key.slice(0, 14))?.at ?? null;
        return at === null ? null : Math.floor((at - start) / 60_000);
      });
    };
    await use(0);
    app.clock.advance(5 * 60_000);
    await use(1);
    const first = [0, 5, null];
    // The app's own flush may have taken a use just before, and still be storing it.
    await until("the uses", uses, (found) => String(found) === String(first));
    await use(1);
    app.clock.advance(50_000);
    await use(1);
    await use(2);
    await until("the third", uses, (found) => String(found) === String([0, 5, 5]));
    app.clock.advance(2 * 60_000);
    await use(1);
    await until("the latest", uses, (found) => String(found) === String([0, 7, 5]));
  });
});

eachServed("keys with scope billing", (served) => {
  const it = takeTurns(served.store);
  let admin: Person;
  let merchant: Person & { readonly key: string };
  before(async () => {
    admin = await platformAdmin(served.app);
    merchant = await approvedMerchant(served.app);
  });

  const billing = (organizationId: string, credential: Credential, ...others: readonly string[]) =>
    create(served.app, organizationId, credential, { scopes: [...others, "billing"] });
  const select = (organizationId: string, credential: Credential, plan = "starter") =>
    served.app.request("POST", `/v1/organizations/${organizationId}/billing/subscription/select`, {
      ...credential,
      body: { plan },
    });

  it("are granted by an owner, and select and change the plan", async () => {
    const { app } = served;
    const made = await billing(merchant.organizationId, { token: merchant.token }, "read");
    expect(made.status, made.text).to.equal(201);
    expect(made.body["scopes"]).to.deep.equal(["read", "billing"]);
    const key = made.body["secret"] as string;
    const path = `${merchant.path}/billing/subscription`;
    expect((await select(merchant.organizationId, { key })).status).to.equal(200);
    const changed = await app.request("PATCH", path, { key, body: { plan: "starter" } });
    expect(changed.status, changed.text).to.equal(200);
    expect((await app.request("GET", path, { key })).body["plan"]).to.equal("starter");
    // Nothing else: it writes no more than its two operations.
    const customer = await app.request("POST", `${merchant.path}/customers`, {
      key,
      body: { name: "Customer" },
    });
    expectProblem(customer, 403, "forbidden");
  });

  it("are refused to everyone but an owner, and none is created", async () => {
    const { app } = served;
    const { organizationId } = merchant;
    const granted = await billing(organizationId, { token: merchant.token }, "write");
    const all = { key: granted.body["secret"] as string };
    const alone = await billing(organizationId, { token: merchant.token });
    const before = await countRows(app.app.db, "api_keys");
    const deputy = await colleague(app, merchant, "admin");
    for (const [who, credential, code] of [
      ["an admin", { token: deputy.token }, "scope_not_allowed"],
      ["a write key", { key: merchant.key }, "scope_not_allowed"],
      ["a key with write and billing", all, "scope_not_allowed"],
      ["a key with billing alone", { key: alone.body["secret"] as string }, "forbidden"],
      ["a member", await colleague(app, merchant, "member"), "forbidden"],
    ] as const) {
      for (const others of [[], ["read"], ["read", "write"]]) {
        const refused = await billing(organizationId, credential, ...others);
        expect(refused.body["code"], who).to.equal(code);
        expectProblem(refused, 403, code);
      }
    }
    expect((await billing(organizationId, { token: deputy.token })).body["detail"]).to.include(
      "Only a logged-in owner",
    );
    expect(await countRows(app.app.db, "api_keys")).to.equal(before);
  });

  it.onBoth("are refused to an owner who loses the role during the request", async () => {
    const { app } = served;
    const { organizationId, token } = merchant;
    const home = `/v1/organizations/${organizationId}`;
    const partner = await colleague(app, merchant, "owner");
    const { body } = await app.request("GET", `${home}/members?limit=100`, { token });
    const members = body["data"] as readonly { id: string; userId: string }[];
    const membership = members.find(({ userId }) => userId === partner.userId)?.id ?? "";
    const text = JSON.stringify({ name: "late", scopes: ["billing"] });
    const headers = {
      Authorization: `Bearer ${partner.token}`,
      "Content-Type": "application/json",
      "Content-Length": String(text.length),
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method: "POST", headers, agent: false };
      const sent = httpRequest(`${app.url}${home}/api-keys`, options, resolve);
      sent.on("error", reject).write(text.slice(0, 9));
      const demote = async () => {
        // By then the server has admitted the request, whose headers came first, and waits for its body.
        for (let n = 0; n < 3; n += 1) await expectStatus(app.request("GET", home, { token }), 200);
        const path = `${home}/members/${membership}`;
        await expectStatus(app.request("PATCH", path, { token, body: { role: "admin" } }), 200);
        sent.end(text.slice(9));
      };
      demote().catch(reject);
    });
    const refused = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as object;
    expect(refused).to.include({ status: 403, code: "scope_not_allowed" });
  });

  it("cannot be granted to a merchant by the platform's owner, admin or key", async () => {
    const { app } = served;
    const deputy = await colleague(app, admin, "admin");
    const platform = await create(app, admin.organizationId, admin, {
      scopes: ["read", "write", "platform"],
    });
    const key = platform.body["secret"] as string;
    for (const credential of [{ token: admin.token }, { token: deputy.token }, { key }]) {
      expectProblem(await billing(merchant.organizationId, credential), 404, "not_found");
    }
    // In the platform's own organization the same rule holds: its owner and nobody else.
    for (const credential of [{ token: deputy.token }, { key }]) {
      expectProblem(await billing(admin.organizationId, credential), 403, "scope_not_allowed");
    }
    expect((await billing(admin.organizationId, { token: admin.token })).status).to.equal(201);
  });

  it("need the owner's role to be granted, work until revoked, and only in their own organization", async () => {
    const { app } = served;
    const other = await approvedMerchant(app);
    const partner = await colleague(app, other, "owner");
    const made = await billing(other.organizationId, { token: partner.token });
    expect(made.status, made.text).to.equal(201);
    const key = made.body["secret"] as string;
    expectProblem(await select(merchant.organizationId, { key }), 404, "not_found");
    const memberships = await app.request("GET", `${other.path}/members`, { token: other.token });
    const own = (memberships.body["data"] as { id: string; userId: string }[]).find(
      ({ userId }) => userId === partner.userId,
    );
    const demoted = await app.request("PATCH", `${other.path}/members/${own?.id ?? ""}`, {
      token: other.token,
      body: { role: "admin" },
    });
    expect(demoted.status, demoted.text).to.equal(200);
    expectProblem(
      await billing(other.organizationId, { token: partner.token }),
      403,
      "scope_not_allowed",
    );
    await app.request("POST", `${other.path}/api-keys/${made.body["id"] as string}/revoke`, {
      token: other.token,
    });
    expectProblem(await select(other.organizationId, { key }), 401, "unauthenticated");
  });

  it("are missed by name: the problem says which scope a key or which role a user lacks", async () => {
    const { app } = served;
    const byKey = await select(merchant.organizationId, { key: merchant.key });
    expectProblem(byKey, 403, "forbidden");
    expect(byKey.body["detail"]).to.include(
      "an API key with the scope billing; this key has read, write.",
    );
    const deputy = await colleague(app, merchant, "admin");
    const byUser = await select(merchant.organizationId, { token: deputy.token });
    expectProblem(byUser, 403, "forbidden");
    expect(byUser.body["detail"]).to.include(
      "at least the role owner in the organization; your role is admin.",
    );
  });
});

async function login(app: TestApp, person: Person): Promise<{ token: string }> {
  const answer = await app.request("POST", "/v1/auth/login", {
    body: { email: person.email, password },
  });
  return { token: answer.body["accessToken"] as string };
}

eachServed("keys with scope platform", (served) => {
  const it = takeTurns(served.store);
  let admin: Person;
  let merchant: Person & { readonly key: string };
  before(async () => {
    admin = await platformAdmin(served.app);
    merchant = await approvedMerchant(served.app);
  });

  it("are granted only by platform admins, and only in the platform organization", async () => {
    const { app } = served;
    const wanted = ["platform"];
    const made = await create(app, admin.organizationId, admin, { scopes: wanted });
    expect(made.status).to.equal(201);
    const platform = made.body["secret"] as string;
    // The admin's other organization is an ordinary one.
    const own = await app.request("POST", "/v1/organizations", {
      token: admin.token,
      body: { name: "Own" },
    });
    const elsewhere = await create(app, own.body["id"] as string, admin, { scopes: wanted });
    expectProblem(elsewhere, 403, "scope_not_allowed");
    const write = await create(app, admin.organizationId, admin, { scopes: ["write", "platform"] });
    const both = write.body["secret"] as string;
    const byKey = await create(app, admin.organizationId, { key: both }, { scopes: wanted });
    expectProblem(byKey, 403, "scope_not_allowed");

    // They open /admin and nothing else.
    const home = admin.path;
    expectProblem(await app.request("GET", home, { key: platform }), 403, "forbidden");
    expectProblem(
      await app.request("GET", "/v1/organizations", { key: platform }),
      403,
      "forbidden",
    );
    const decide = (key: string) =>
      app.request("POST", `/v1/admin/organizations/${merchant.organizationId}/verification`, {
        key,
        body: { decision: "approve" },
      });
    expectProblem(await decide(platform), 409, "verification_conflict");
    expectProblem(await decide(both), 409, "verification_conflict");
    expectProblem(await decide(merchant.key), 403, "forbidden");
    const ordinary = await create(app, admin.organizationId, admin, { scopes: ["read", "write"] });
    expectProblem(await decide(ordinary.body["secret"] as string), 403, "forbidden");
  });

  it("give no access to a merchant's organization, nor do platform admins have it", async () => {
    const { app } = served;
    const made = await create(app, admin.organizationId, admin, { scopes: ["read", "platform"] });
    const { path } = merchant;
    for (const credential of [{ key: made.body["secret"] as string }, { token: admin.token }]) {
      expectProblem(await app.request("GET", path, credential), 404, "not_found");
      const write = await app.request("PATCH", path, { ...credential, body: { name: "x" } });
      expectProblem(write, 404, "not_found");
    }
  });

  it("get 404 for an unknown organization", async () => {
    const { app } = served;
    for (const id of [
      "org_00000000000000000000000000",
      "abc",
      merchant.organizationId.slice(0, -1),
    ]) {
      const answer = await app.request("POST", `/v1/admin/organizations/${id}/verification`, {
        token: admin.token,
        body: { decision: "approve" },
      });
      expectProblem(answer, 404, "not_found");
    }
  });

  it("lose their rights with the platform admin's role on the next request", async () => {
    const { app } = served;
    const other = await colleague(app, admin, "admin");
    const decide = () =>
      app.request("POST", `/v1/admin/organizations/${merchant.organizationId}/verification`, {
        token: other.token,
        body: { decision: "approve" },
      });
    expectProblem(await decide(), 409, "verification_conflict");
    await app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE memberships SET role = 'member' WHERE user_id = $1 AND organization_id = $2", [
        other.userId,
        admin.organizationId,
      ]),
    );
    expectProblem(await decide(), 403, "forbidden");
  });
});

eachStore("a revoked key", (store) => {
  it("is refused by every process on the next request", async () => {
    const place = await store.place("migrated");
    const clock = movingClock();
    const [left, right] = [await startApp({ place, clock }), await startApp({ place, clock })];
    try {
      const person = await register(left);
      const made = await create(left, person.organizationId, person, { scopes: ["read"] });
      const key = made.body["secret"] as string;
      const { path } = person;
      for (const app of [left, right]) {
        expect((await app.request("GET", path, { key })).status).to.equal(200);
      }
      await left.request("POST", `${path}/api-keys/${made.body["id"] as string}/revoke`, {
        token: person.token,
      });
      for (const app of [left, right]) {
        expectProblem(await app.request("GET", path, { key }), 401, "unauthenticated");
      }
    } finally {
      await Promise.all([left.stop(), right.stop()]);
    }
  });
});

eachServed("The number of an organization's API keys", (served) => {
  it("is at most 100 that are active, also when 64 ask at once", async () => {
    const { app } = served;
    const owner = await register(app);
    const ask = () => create(app, owner.organizationId, owner, { scopes: ["read"] });
    const made: string[] = [];
    for (let count = 0; count < 60; count += 1) {
      made.push(String((await expectStatus(ask(), 201)).body["id"]));
    }
    const answers = await Promise.all(Array.from({ length: 64 }, ask));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).to.have.length(40);
    const refused = answers.find(({ status }) => status !== 201);
    if (refused === undefined) throw new Error("no key was refused");
    expectProblem(refused, 409, "api_key_limit");

    const revoke = `${owner.path}/api-keys/${made[0] ?? ""}/revoke`;
    await expectStatus(app.request("POST", revoke, { token: owner.token }), 200);
    await expectStatus(ask(), 201);
    expect((await ask()).status).to.equal(409);
    // Another organization of the same owner has its own.
    const other = await expectStatus(
      app.request("POST", "/v1/organizations", { token: owner.token, body: { name: "Other" } }),
      201,
    );
    const first = create(app, String(other.body["id"]), owner, { scopes: ["read"] });
    await expectStatus(first, 201);
  });
});
