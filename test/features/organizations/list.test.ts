// The list of one's organizations over HTTP, on both databases.
import { expect } from "chai";
import { addMembership } from "../../../src/features/members/members.ts";
import type { Id } from "../../../src/kernel/id.ts";
import {
  colleague,
  expectStatus,
  keyOf,
  register,
  startApp,
  walk,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("the list of organizations", (store) => {
  let app: TestApp;
  let ada: Person;

  before(async () => {
    app = await startApp({
      place: await store.place("migrated"),
      background: false,
      // A user creates few organizations while they need approval.
      settings: { TILL_VERIFICATION: "off" },
    });
  });
  beforeEach(async () => {
    ada = await register(app);
  });
  after(() => app.stop());

  const path = "/v1/organizations";
  const found = async (name: string) =>
    String(
      (await expectStatus(app.request("POST", path, { token: ada.token, body: { name } }), 201))
        .body["id"],
    );

  it("shows a user their organizations, in any role", async () => {
    const bob = await register(app, "Bob");
    const second = await found("Second");
    await app.app.db.write(testContext, (tx) =>
      addMembership(tx, app.app, app.clock.now(), {
        userId: ada.userId as Id<"user">,
        organizationId: bob.organizationId as Id<"organization">,
        role: "viewer",
      }),
    );
    const listed = await expectStatus(app.request("GET", path, { token: ada.token }), 200);
    const data = listed.body["data"] as Record<string, unknown>[];
    expect(data.map(({ id }) => id)).to.deep.equal(
      [ada.organizationId, second, bob.organizationId].sort().reverse(),
    );
    const one = await app.request("GET", `${path}/${second}`, { token: ada.token });
    expect(data.find(({ id }) => id === second)).to.deep.equal(one.body);
    const his = await app.request("GET", path, { token: bob.token });
    expect((his.body["data"] as { id: string }[]).map(({ id }) => id)).to.deep.equal([
      bob.organizationId,
    ]);
  });

  it("shows a key its own organization", async () => {
    await found("Second");
    for (const scope of ["read", "write"]) {
      const key = await keyOf(app, ada, scope);
      const listed = await expectStatus(app.request("GET", path, { key }), 200);
      expect((listed.body["data"] as { id: string }[]).map(({ id }) => id)).to.deep.equal([
        ada.organizationId,
      ]);
      expect(listed.body["nextCursor"]).to.equal(null);
    }
    await expectStatus(app.request("GET", path), 401);
  });

  it("omits an organization from which the user was removed", async () => {
    const guest = await colleague(app, ada, "member");
    const members = `${path}/${ada.organizationId}/members`;
    const listed = (await app.request("GET", members, { token: ada.token })).body["data"];
    const own = (listed as { id: string; userId: string }[]).find(
      ({ userId }) => userId === guest.userId,
    );
    await expectStatus(
      app.request("POST", `${members}/${own?.id ?? ""}/remove`, { token: ada.token }),
      204,
    );
    const rest = await walk(app, path, guest.token, 1);
    expect(rest.map(({ id }) => id)).not.to.include(ada.organizationId);
    expect(rest).to.have.length(1);
  });

  it("is paginated while organizations are created, and a cursor is tied to its user", async () => {
    for (let count = 0; count < 15; count += 1) await found(`Shop ${String(count)}`);
    const before = (await walk(app, path, ada.token, 100)).map(({ id }) => id);
    const walked = await walk(app, path, ada.token, 4, async (page) => {
      await found(`Late ${String(page)}`);
    });
    expect(walked.map(({ id }) => id)).to.deep.equal(before);
    const cursor = String(
      (await app.request("GET", `${path}?limit=1`, { token: ada.token })).body["nextCursor"],
    );
    const bob = await register(app, "Bob");
    await expectStatus(app.request("GET", `${path}?cursor=${cursor}`, { token: bob.token }), 400);
  });
});
