// An organization as the platform reads it, over HTTP on both databases.
import { expect } from "chai";
import { expectProblem } from "../../http/problem.ts";
import {
  approvedMerchant,
  colleague,
  eachServed,
  expectStatus,
  keyOf,
  platformAdmin,
  register,
  walk,
  type Person,
} from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";

const path = "/v1/admin/organizations";

eachServed("the platform's list of organizations", (served) => {
  let root: Person;
  before(async () => {
    root = await platformAdmin(served.app);
  });
  const get = (query: string, token = root.token) =>
    served.app.request("GET", path + query, { token });
  const found = async (search: string) => {
    const answer = await expectStatus(get(`?search=${encodeURIComponent(search)}`), 200);
    return (answer.body["data"] as { id: string }[]).map(({ id }) => id);
  };

  it("shows members, wallets and review history", async () => {
    const { app } = served;
    const ada = await approvedMerchant(app);
    const bob = await colleague(app, ada, "viewer");
    await ada.addWallet({ xpub: xpubs.first });
    const detail = await expectStatus(get(`/${ada.organizationId}`), 200);
    const own = await expectStatus(app.request("GET", ada.path, { token: ada.token }), 200);
    expect(detail.body).to.deep.include({
      ...own.body,
      ownerEmail: ada.email,
      memberCount: 2,
      wallets: await ada.list("/wallets"),
      subscription: null,
      plan: null,
    });
    const members = detail.body["members"] as { email: string; role: string }[];
    expect(members.map(({ email, role }) => [email, role])).to.have.deep.members([
      [ada.email, "owner"],
      [bob.email, "viewer"],
    ]);
    const reviews = detail.body["reviewHistory"] as { decision: string }[];
    expect(reviews.map(({ decision }) => decision)).to.deep.equal(["approve", "submitted"]);
    const [entry] = (await get(`?search=${ada.organizationId}`)).body["data"] as object[];
    expect(detail.body).to.deep.include(entry);
  });

  it("shows the plan that an organization has selected", async () => {
    const { app } = served;
    const ada = await approvedMerchant(app);
    const select = `${ada.path}/billing/subscription/select`;
    const body = { plan: "starter" };
    const selected = await expectStatus(
      app.request("POST", select, { token: ada.token, body }),
      200,
    );
    const { status } = selected.body as { status: string };
    const shown = { plan: "starter", subscriptionStatus: status };
    const detail = await expectStatus(get(`/${ada.organizationId}`), 200);
    expect(detail.body).to.include(shown);
    expect(detail.body["subscription"]).to.include({ plan: "starter", status });
    const [entry] = (await get(`?search=${ada.organizationId}`)).body["data"] as object[];
    expect(entry).to.include(shown);
  });

  it("can be read only by the platform", async () => {
    const ada = await register(served.app);
    const plain = await keyOf(served.app, root, "read", "write");
    for (const query of ["", `/${ada.organizationId}`]) {
      expectProblem(await get(query, ada.token), 403, "forbidden");
      const withKey = await served.app.request("GET", path + query, { key: plain });
      expectProblem(withKey, 403, "forbidden");
    }
    expectProblem(await get("/org_1"), 404, "not_found");
    expectProblem(await get(`/org_${"0".repeat(26)}`), 404, "not_found");
  });

  it("is searched literally, ignoring the case of ASCII letters", async () => {
    const ada = await register(served.app);
    const body = { name: "ÉCLAIR 50%_off\\" };
    const home = ada.path;
    await expectStatus(served.app.request("PATCH", home, { token: ada.token, body }), 200);
    for (const part of ["ÉCLAIR", "Éclair", "50%_OFF", "%_", "\\", ada.organizationId]) {
      expect(await found(part), part).to.deep.equal([ada.organizationId]);
    }
    for (const part of ["50_", "5%0", "eclair", ada.organizationId.slice(1)]) {
      expect(await found(part), part).to.deep.equal([]);
    }
  });

  it("can be filtered by verification status, page by page", async () => {
    const { app } = served;
    const made = [await register(app), await register(app), await register(app)];
    const walked = (await walk(app, path, root.token, 2)).map(({ id }) => String(id));
    expect(walked).to.deep.equal([...new Set(walked)].sort().reverse());
    expect(walked).to.include.members(made.map(({ organizationId }) => organizationId));
    const answer = await get("?verificationStatus=unverified&limit=2");
    const data = answer.body["data"] as { verificationStatus: string }[];
    expect(data.map((one) => one.verificationStatus)).to.deep.equal(["unverified", "unverified"]);
    const cursor = String(answer.body["nextCursor"]);
    expect((await get(`?verificationStatus=unverified&limit=2&cursor=${cursor}`)).status).to.equal(
      200,
    );
    expect((await get(`?limit=2&cursor=${cursor}`)).status).to.equal(400);
    expect((await get("?verificationStatus=maybe")).status).to.equal(400);
  });
});
