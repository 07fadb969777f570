// Customers over HTTP, on both databases: what is ordinary, what is wrong, and what is hostile.
import { expect } from "chai";
import { updateCustomer } from "../../../src/features/customers/customers.ts";
import { roles } from "../../../src/http/declare/permissions.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import {
  colleague,
  expectStatus,
  keyOf,
  register,
  startApp,
  walk,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import { placeOf, type FieldFault } from "../../http/problem.ts";

const many = testsAll ? 250 : 50;

eachStore("the customers API", (store) => {
  let app: TestApp;
  let ada: Person;
  let bob: Person;
  let path: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    bob = await register(app, "Bob");
  });
  beforeEach(async () => {
    ada = await register(app);
    path = `${ada.path}/customers`;
  });
  after(() => app.stop());

  const post = (body: unknown, who: { token: string } | { key: string } = ada): Promise<Answer> =>
    app.request("POST", path, { ...credential(who), body });
  const patch = (id: unknown, body: unknown, headers: Record<string, string> = {}) =>
    app.request("PATCH", `${path}/${String(id)}`, { token: ada.token, body, headers });
  const list = (query = "") => app.request("GET", path + query, { token: ada.token });
  const idsOf = (answer: Answer) => (answer.body["data"] as { id: string }[]).map(({ id }) => id);
  const fields = (answer: Answer) => (answer.body["errors"] as FieldFault[]).map(placeOf).sort();

  it("creates a customer, returns it, and emits one event", async () => {
    const made = await post({
      name: "  Grace Hopper ",
      email: "Grace@Example.com",
      externalId: "c-1",
      metadata: { tier: "gold" },
    });
    expect(made.status).to.equal(201);
    expect(made.body).to.include({
      name: "Grace Hopper",
      email: "grace@example.com",
      externalId: "c-1",
    });
    expect(made.body["metadata"]).to.deep.equal({ tier: "gold" });
    const one = await app.request("GET", `${path}/${String(made.body["id"])}`, {
      token: ada.token,
    });
    expect(one.body).to.deep.equal(made.body);
    const { db } = app.app;
    const told = await db.find(events, "WHERE object_id = $1 ORDER BY id", [
      made.body["id"] as string,
    ]);
    expect(told.map(({ type, objectVersion }) => [type, objectVersion])).to.deep.equal([
      ["customer.created", 1],
    ]);
    expect(told[0]?.payload).to.deep.equal(made.body);
    const entries = await db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [
      made.body["id"] as string,
    ]);
    expect(entries.map(({ action, actorId }) => [action, actorId])).to.deep.equal([
      ["customer.created", ada.userId],
    ]);
  });

  it("requires only a name", async () => {
    const { body } = await expectStatus(post({ name: "Ada" }), 201);
    expect(body).to.include({ email: null, externalId: null });
    expect(body["metadata"]).to.deep.equal({});
    await expectStatus(post({ name: "Ada", email: null, externalId: null }), 201);
  });

  it("names every wrong field", async () => {
    const answer = await post({
      name: " ",
      email: "nobody",
      externalId: "a\nb",
      metadata: { k: 1 },
      balance: "5.00",
    });
    expect(answer.status).to.equal(400);
    expect(fields(answer)).to.deep.equal([
      "/balance",
      "/email",
      "/externalId",
      "/metadata/k",
      "/name",
    ]);
    const tooMany = Object.fromEntries(
      Array.from({ length: 51 }, (_, n) => [`k${String(n)}`, "v"]),
    );
    expect((await post({ name: "Ada", metadata: tooMany })).status).to.equal(400);
    expect((await post({ name: "x".repeat(201) })).status).to.equal(400);
    expect((await post({ name: null })).status).to.equal(400);
  });

  it("changes given fields, clears null ones, and keeps the rest", async () => {
    const made = await expectStatus(
      post({ name: "Ada", email: "a@example.com", externalId: "c-2", metadata: { a: "1" } }),
      201,
    );
    app.clock.advance(5);
    const { body } = await expectStatus(
      patch(made.body["id"], { email: null, metadata: { b: "2" } }),
      200,
    );
    expect(body).to.include({ name: "Ada", email: null, externalId: "c-2" });
    expect(body["metadata"]).to.deep.equal({ b: "2" });
    expect(body["updatedAt"]).not.to.equal(made.body["updatedAt"]);
    await expectStatus(patch(made.body["id"], { name: "Ada" }), 200);
    await expectStatus(patch(made.body["id"], {}), 200);
    const { db } = app.app;
    const told = await db.find(events, "WHERE object_id = $1 ORDER BY id", [
      made.body["id"] as string,
    ]);
    expect(told.map(({ type, objectVersion }) => [type, objectVersion])).to.deep.equal([
      ["customer.created", 1],
      ["customer.updated", 2],
    ]);
    const entries = await db.find(
      auditLogs,
      "WHERE target_id = $1 AND action = 'customer.updated'",
      [made.body["id"] as string],
    );
    expect(entries.map(({ changes }) => changes)).to.deep.equal([
      {
        email: { from: "a@example.com", to: null },
        metadata: { from: { a: "1" }, to: { b: "2" } },
      },
    ]);
    expect(fields(await patch(made.body["id"], { name: null, metadata: null }))).to.deep.equal([
      "/metadata",
      "/name",
    ]);
    // As a program passes fields that it does not have.
    const id = made.body["id"] as Id<"customer">;
    const given = { name: undefined, email: "b@example.com" };
    const owner = ada.organizationId as Id<"organization">;
    const row = await updateCustomer(app.app, testContext, owner, id, given, () => undefined);
    expect(row).to.include({ name: "Ada", email: "b@example.com", externalId: "c-2" });
  });

  it("changes only the version that was read, with If-Match", async () => {
    const { body } = await expectStatus(post({ name: "Ada" }), 201);
    const one = `${path}/${String(body["id"])}`;
    const tag = (await app.request("GET", one, { token: ada.token })).headers.get("ETag") ?? "";
    const first = await expectStatus(patch(body["id"], { name: "A" }, { "If-Match": tag }), 200);
    await expectStatus(patch(body["id"], { name: "B" }, { "If-Match": tag }), 412);
    const next = first.headers.get("ETag") ?? "";
    await expectStatus(patch(body["id"], { name: "B" }, { "If-Match": next }), 200);
    const read = (known: string) =>
      app.request("GET", one, { token: ada.token, headers: { "If-None-Match": known } });
    const current = await expectStatus(read(next), 200);
    await expectStatus(read(current.headers.get("ETag") ?? ""), 304);
  });

  it("keeps an externalId unique in an organization, however it is set", async () => {
    const first = await expectStatus(post({ name: "A", externalId: "same" }), 201);
    const second = await post({ name: "B", externalId: "same" });
    expect(second.status).to.equal(409);
    expect(second.body["code"]).to.equal("external_id_taken");
    const other = await expectStatus(post({ name: "B" }), 201);
    const moved = await patch(other.body["id"], { externalId: "same" });
    expect([moved.status, moved.body["code"]]).to.deep.equal([409, "external_id_taken"]);
    await expectStatus(patch(first.body["id"], { externalId: null }), 200);
    await expectStatus(patch(other.body["id"], { externalId: "same" }), 200);
    await expectStatus(
      app.request("POST", `${bob.path}/customers`, {
        token: bob.token,
        body: { name: "Bob's", externalId: "same" },
      }),
      201,
    );
  });

  it("gives an externalId to one of many simultaneous requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => post({ name: `N${String(n)}`, externalId: "raced" })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, ...Array.from({ length: 11 }, () => 409)]);
    expect(idsOf(await list("?externalId=raced"))).to.have.length(1);
  });

  it("replays a creation for its Idempotency-Key", async () => {
    const send = () =>
      app.request("POST", path, {
        token: ada.token,
        body: { name: "Once" },
        headers: { "Idempotency-Key": "k1" },
      });
    const first = await send();
    const again = await send();
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get("Idempotent-Replayed")).to.equal("true");
    expect(idsOf(await list())).to.have.length(1);
  });

  it("compares whole values in filters, never patterns", async () => {
    const plain = await expectStatus(
      post({ name: "A", email: "a_b@example.com", externalId: "50%_off" }),
      201,
    );
    await expectStatus(post({ name: "B", email: "axb@example.com", externalId: "50xx_off" }), 201);
    const found = [plain.body["id"]];
    const query = (params: Record<string, string>) =>
      list(`?${new URLSearchParams(params).toString()}`);
    expect(idsOf(await query({ email: "A_B@Example.com" }))).to.deep.equal(found);
    expect(idsOf(await query({ externalId: "50%_off" }))).to.deep.equal(found);
    expect(idsOf(await query({ email: "%@example.com" }))).to.deep.equal([]);
    expect(idsOf(await query({ externalId: "50%" }))).to.deep.equal([]);
    expect(idsOf(await query({ externalId: "' OR 1=1 --" }))).to.deep.equal([]);
    expect(idsOf(await query({ email: "a_b@example.com", externalId: "50xx_off" }))).to.deep.equal(
      [],
    );
    expect((await list("?name=A")).status).to.equal(400);
    expect((await list("?email=a&email=b")).status).to.equal(400);
  });

  it(`paginates ${String(many)} customers by 7 without loss or repetition while more are created`, async () => {
    const made = new Set<string>();
    for (let batch = 0; batch < many / 25; batch += 1) {
      const answers = await Promise.all(
        Array.from({ length: 25 }, () => expectStatus(post({ name: "Many" }), 201)),
      );
      for (const { body } of answers) made.add(body["id"] as string);
    }
    const walked = await walk(app, path, ada.token, 7, async (page) => {
      if (page % 3 === 0) await expectStatus(post({ name: "Late" }), 201);
    });
    const ids = walked.map(({ id }) => id as string);
    expect(new Set(ids)).to.have.property("size", ids.length);
    expect(ids).to.deep.equal([...ids].sort().reverse());
    expect(ids.filter((id) => made.has(id))).to.have.length(many);
  });

  it("refuses another list's cursor, and an altered one", async () => {
    for (const name of ["A", "B", "C"])
      await expectStatus(post({ name, email: "a@b.example" }), 201);
    const cursor = (await list("?limit=1")).body["nextCursor"] as string;
    const filtered = await list(`?limit=1&email=a@b.example&cursor=${cursor}`);
    expect([filtered.status, fields(filtered)]).to.deep.equal([400, ["?cursor"]]);
    const foreign = await app.request("GET", `${bob.path}/customers?cursor=${cursor}`, {
      token: bob.token,
    });
    expect(foreign.status).to.equal(400);
    expect((await list(`?cursor=${cursor.slice(0, -2)}`)).status).to.equal(400);
    expect((await list("?limit=101")).status).to.equal(400);
  });

  it("allows members and keys with write to change customers, viewers and keys with read to read them", async () => {
    const { body } = await expectStatus(post({ name: "Ada" }), 201);
    const one = `${path}/${String(body["id"])}`;
    const may = async (who: { token: string } | { key: string }) => [
      (await app.request("GET", path, credential(who))).status,
      (await app.request("GET", one, credential(who))).status,
      (await post({ name: "By a colleague" }, who)).status,
      (await app.request("PATCH", one, { ...credential(who), body: { name: "C" } })).status,
    ];
    for (const role of roles) {
      const isReader = role === "viewer";
      expect(await may(await colleague(app, ada, role)), role).to.deep.equal(
        isReader ? [200, 200, 403, 403] : [200, 200, 201, 200],
      );
    }
    expect(await may({ key: await keyOf(app, ada, "read") })).to.deep.equal([200, 200, 403, 403]);
    expect(await may({ key: await keyOf(app, ada, "write") })).to.deep.equal([200, 200, 201, 200]);
    expect(await may(bob)).to.deep.equal([404, 404, 404, 404]);
    expect(await may({ key: await keyOf(app, bob, "write") })).to.deep.equal([404, 404, 404, 404]);
    expect((await app.request("GET", path)).status).to.equal(401);
  });

  it("answers 404 for another organization's customer", async () => {
    const { body } = await expectStatus(post({ name: "Ada" }), 201);
    const own = `${bob.path}/customers`;
    const unknown = `cus_${"0".repeat(26)}`;
    for (const method of ["GET", "PATCH"]) {
      const send = (id: string) =>
        app.request(method, `${own}/${id}`, {
          token: bob.token,
          ...(method === "PATCH" ? { body: { name: "Mine" } } : {}),
        });
      const [foreign, absent] = [await send(body["id"] as string), await send(unknown)];
      expect([foreign.status, absent.status]).to.deep.equal([404, 404]);
      expect(foreign.body["detail"]).to.equal(absent.body["detail"]);
      expect((await send("cus_1")).status).to.equal(404);
    }
  });
});

function credential(who: { token: string } | { key: string }) {
  return "key" in who ? { key: who.key } : { token: who.token };
}
