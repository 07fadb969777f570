// The list of API keys over HTTP, on both databases.
import { expect } from "chai";
import { roles } from "../../../src/http/declare/permissions.ts";
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
import { eachStore } from "../../support/store/stores.ts";

eachStore("the list of API keys", (store) => {
  let app: TestApp;
  let ada: Person;
  let path: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
  });
  beforeEach(async () => {
    ada = await register(app);
    path = `${ada.path}/api-keys`;
  });
  after(() => app.stop());

  const list = (query = "") => app.request("GET", path + query, { token: ada.token });

  it("shows keys without secrets, newest first, including revoked ones", async () => {
    const secrets = [await keyOf(app, ada, "read"), await keyOf(app, ada, "read", "write")];
    const first = await expectStatus(list(), 200);
    const [newest, oldest] = first.body["data"] as Record<string, unknown>[];
    expect(newest).to.deep.include({ scopes: ["read", "write"], revokedAt: null });
    expect(oldest).to.deep.include({ scopes: ["read"], lastUsedAt: null, expiresAt: null });
    for (const secret of secrets) expect(first.text).not.to.include(secret);
    const id = String(oldest?.["id"]);
    await expectStatus(app.request("POST", `${path}/${id}/revoke`, { token: ada.token }), 200);
    const again = (await list()).body["data"] as Record<string, unknown>[];
    expect(again[1]).to.include({ id });
    expect(again[1]?.["revokedAt"]).to.be.a("string");
  });

  it("can be read by every role and key of the organization, and by no one else", async () => {
    for (const role of roles) {
      const person = await colleague(app, ada, role);
      await expectStatus(app.request("GET", path, { token: person.token }), 200);
    }
    await expectStatus(app.request("GET", path, { key: await keyOf(app, ada, "read") }), 200);
    const eve = await register(app, "Eve");
    await expectStatus(app.request("GET", path, { token: eve.token }), 404);
    await expectStatus(app.request("GET", path, { key: await keyOf(app, eve, "write") }), 404);
    await expectStatus(app.request("GET", path), 401);
  });

  it("is paginated without loss or repetition while keys are created", async () => {
    for (let count = 0; count < 24; count += 1) await keyOf(app, ada, "read");
    const before = (await walk(app, path, ada.token, 100)).map(({ id }) => id);
    const walked = await walk(app, path, ada.token, 5, async () => {
      await keyOf(app, ada, "write");
    });
    expect(walked.map(({ id }) => id)).to.deep.equal(before);
    const cursor = (await list("?limit=5")).body["nextCursor"] as string;
    await expectStatus(
      app.request("GET", `/v1/organizations?cursor=${cursor}`, { token: ada.token }),
      400,
    );
    await expectStatus(list("?scopes=read"), 400);
  });
});
