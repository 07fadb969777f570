// Members over HTTP, on both databases: who may give and take which role, and that an owner always stays.
import { expect } from "chai";
import { returnedMembers } from "../../../src/features/members/store.ts";
import { roles, type Role } from "../../../src/http/declare/permissions.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
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
import { eachStore, takeTurns } from "../../support/store/stores.ts";

interface Member {
  readonly id: string;
  readonly userId: string;
  readonly role: Role;
}

eachStore("the members API", (store) => {
  const it = takeTurns(store);
  let app: TestApp;
  let ada: Person;
  let path: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
  });
  beforeEach(async () => {
    ada = await register(app);
    path = `${ada.path}/members`;
  });
  after(() => app.stop());

  type Who = { token: string } | { key: string };
  const credential = (who: Who) => ("key" in who ? { key: who.key } : { token: who.token });
  const members = async () => (await walk(app, path, ada.token, 100)) as unknown as Member[];
  const memberOf = async (person: Person): Promise<Member> => {
    const found = (await members()).find(({ userId }) => userId === person.userId);
    if (found === undefined) throw new Error("is not a member");
    return found;
  };
  const setRole = (who: Who, id: string, role: unknown, headers: Record<string, string> = {}) =>
    app.request("PATCH", `${path}/${id}`, { ...credential(who), body: { role }, headers });
  const remove = (who: Who, id: string): Promise<Answer> =>
    app.request("POST", `${path}/${id}/remove`, credential(who));

  it.onBoth("lists members, newest first, for every member and key", async () => {
    const viewer = await colleague(app, ada, "viewer");
    const listed = await expectStatus(app.request("GET", path, { token: viewer.token }), 200);
    const data = listed.body["data"] as Record<string, unknown>[];
    expect(data.map(({ userId, role }) => [userId, role])).to.deep.equal([
      [viewer.userId, "viewer"],
      [ada.userId, "owner"],
    ]);
    expect(data[1]).to.include({
      email: ada.email,
      name: "Ada",
      organizationId: ada.organizationId,
      organizationName: "Ada's shop",
    });
    const key = await keyOf(app, ada, "read");
    expect((await app.request("GET", path, { key })).body).to.deep.equal(listed.body);
    const stranger = await register(app, "Eve");
    await expectStatus(app.request("GET", path, { token: stranger.token }), 404);
    await expectStatus(app.request("GET", path), 401);
  });

  it("paginates without loss or repetition while members join", async () => {
    const joined: string[] = [];
    for (let count = 0; count < 9; count += 1) {
      joined.push((await colleague(app, ada, "viewer")).userId);
    }
    const walked = await walk(app, path, ada.token, 2, async (page) => {
      if (page === 1) await colleague(app, ada, "viewer");
    });
    const ids = walked.map(({ userId }) => userId as string);
    expect(new Set(ids)).to.have.property("size", ids.length);
    expect(ids.slice(-10)).to.deep.equal([ada.userId, ...joined].reverse());
    const cursor = (await app.request("GET", `${path}?limit=2`, { token: ada.token })).body[
      "nextCursor"
    ] as string;
    const other = `${ada.path}/invitations?cursor=${cursor}`;
    await expectStatus(app.request("GET", other, { token: ada.token }), 400);
  });

  /** Tries every change of one member by another: each new role, and removal. */
  async function reach(who: Who, target: Role): Promise<Record<string, number>> {
    const results: Record<string, number> = {};
    for (const role of roles) {
      const member = await memberOf(await colleague(app, ada, target));
      results[role] = (await setRole(who, member.id, role)).status;
      results[`${role} removed`] = (await remove(who, member.id)).status;
    }
    return results;
  }

  it("lets owners manage everyone", async () => {
    const owner = await colleague(app, ada, "owner");
    for (const target of roles) {
      const results = await reach(owner, target);
      for (const role of roles) {
        expect([results[role], results[`${role} removed`]], `${target} to ${role}`).to.deep.equal([
          200, 204,
        ]);
      }
    }
  });

  for (const kind of ["an admin", "a key with write"] as const) {
    it(`lets ${kind} manage only roles below admin`, async () => {
      const who =
        kind === "an admin"
          ? await colleague(app, ada, "admin")
          : { key: await keyOf(app, ada, "write") };
      for (const target of roles) {
        const results = await reach(who, target);
        for (const role of roles) {
          const mayTouch = target === "viewer" || target === "member";
          const mayGive = role === "viewer" || role === "member";
          expect(results[role], `${target} to ${role}`).to.equal(mayTouch && mayGive ? 200 : 403);
          expect(results[`${role} removed`], `${target} removed`).to.equal(mayTouch ? 204 : 403);
        }
      }
    });
  }

  it("lets no one below an admin, and no read key, change anything", async () => {
    const target = await memberOf(await colleague(app, ada, "viewer"));
    const others: Who[] = [
      await colleague(app, ada, "viewer"),
      await colleague(app, ada, "member"),
      { key: await keyOf(app, ada, "read") },
    ];
    for (const who of others) {
      await expectStatus(setRole(who, target.id, "member"), 403);
      await expectStatus(remove(who, target.id), 403);
    }
    const stranger = await register(app, "Eve");
    await expectStatus(setRole(stranger, target.id, "member"), 404);
    await expectStatus(remove(stranger, target.id), 404);
    // Within the stranger's own organization the id leads nowhere either.
    const own = `${stranger.path}/members/${target.id}`;
    await expectStatus(
      app.request("PATCH", own, { token: stranger.token, body: { role: "owner" } }),
      404,
    );
    await expectStatus(app.request("POST", `${own}/remove`, { token: stranger.token }), 404);
  });

  it("never removes the last owner, even at their own request", async () => {
    const own = await memberOf(ada);
    await colleague(app, ada, "admin");
    for (const answer of [await setRole(ada, own.id, "admin"), await remove(ada, own.id)]) {
      expect([answer.status, answer.body["code"]]).to.deep.equal([409, "last_owner"]);
    }
    await expectStatus(setRole(ada, own.id, "owner"), 200);
    const second = await colleague(app, ada, "owner");
    await expectStatus(setRole(ada, own.id, "viewer"), 200);
    const last = (await walk(app, path, second.token, 100)).find(
      ({ userId }) => userId === second.userId,
    );
    await expectStatus(remove(second, String(last?.["id"])), 409);
  });

  it.onBoth("keeps one owner if two demote or remove each other at once", async () => {
    for (let round = 0; round < 6; round += 1) {
      const bea = await colleague(app, ada, "owner");
      const [first, second] = [await memberOf(ada), await memberOf(bea)];
      const attack = (who: Person, target: Member) =>
        round % 2 === 0 ? setRole(who, target.id, "viewer") : remove(who, target.id);
      const answers = await Promise.all([attack(ada, second), attack(bea, first)]);
      const won = answers.filter(({ status }) => status < 300);
      expect(won, JSON.stringify(answers.map(({ text }) => text))).to.have.length(1);
      const { db } = app.app;
      const owners = await db.all(
        "SELECT user_id FROM memberships WHERE organization_id = $1 AND role = 'owner'",
        [ada.organizationId],
      );
      expect(owners).to.have.length(1);
      // The next round begins with Ada as the only owner.
      ada = await register(app);
      path = `${ada.path}/members`;
    }
  });

  it("excludes a removed member on the next request, and keeps the keys that they created", async () => {
    const admin = await colleague(app, ada, "admin");
    const key = await keyOf(app, admin, "read", "write");
    const home = ada.path;
    await expectStatus(app.request("GET", home, { token: admin.token }), 200);
    await expectStatus(remove(ada, (await memberOf(admin)).id), 204);
    await expectStatus(app.request("GET", home, { token: admin.token }), 404);
    await expectStatus(app.request("GET", home, { key }), 200);
    await expectStatus(remove(ada, `mem_${"0".repeat(26)}`), 404);
  });

  it("applies a new role on the next request", async () => {
    const viewer = await colleague(app, ada, "viewer");
    const home = ada.path;
    const write = () =>
      app.request("PATCH", home, {
        token: viewer.token,
        body: { website: "https://shop.example" },
      });
    await expectStatus(write(), 403);
    const { id } = await memberOf(viewer);
    const changed = await expectStatus(setRole(ada, id, "admin"), 200);
    expect(changed.body).to.include({ id, role: "admin", email: viewer.email });
    await expectStatus(write(), 200);
    const tag = changed.headers.get("ETag") ?? "";
    await expectStatus(setRole(ada, id, "member", { "If-Match": tag }), 200);
    await expectStatus(setRole(ada, id, "viewer", { "If-Match": tag }), 412);
    await expectStatus(write(), 403);
  });

  it("refuses unknown roles, and lets an admin leave", async () => {
    const admin = await colleague(app, ada, "admin");
    const { id } = await memberOf(admin);
    for (const role of ["boss", "", null, 1]) await expectStatus(setRole(ada, id, role), 400);
    await expectStatus(remove(admin, id), 204);
    await expectStatus(app.request("GET", path, { token: admin.token }), 404);
  });

  it("records who did what to whom", async () => {
    const viewer = await colleague(app, ada, "viewer");
    const { id } = await memberOf(viewer);
    await setRole(ada, id, "member");
    await setRole(ada, id, "member");
    await remove(ada, id);
    const entries = await app.app.db.find(
      auditLogs,
      "WHERE target_id = $1 AND actor_id = $2 ORDER BY id",
      [id, ada.userId],
    );
    expect(entries.map(({ action, changes }) => [action, changes])).to.deep.equal([
      ["member.role_changed", { userId: viewer.userId, role: { from: "viewer", to: "member" } }],
      ["member.removed", { userId: viewer.userId, role: "member" }],
    ]);
  });

  it("come back with a restore only if the former store had removed them", async () => {
    const { db } = app.app;
    const former = await store.open();
    const back = (await returnedMembers(db, former)).filter(({ email }) => email === ada.email);
    expect(back).to.deep.equal([{ email: ada.email, organization: "Ada's shop", role: "owner" }]);
    expect(await returnedMembers(db, db)).to.deep.equal([]);
    expect(await returnedMembers(db, null)).to.deep.equal([]);
  });
});
