import { expect } from "chai";
import {
  approvedMerchant,
  colleague,
  eachServed,
  expectStatus,
  type Person,
} from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { expectProblem, withoutRequest } from "../../http/problem.ts";

eachServed("one wallet", (served) => {
  let merchant: Person & { readonly key: string };
  let wallet: Readonly<Record<string, unknown>>;
  let home: string;

  before(async () => {
    merchant = await approvedMerchant(served.app);
    home = `${merchant.path}/wallets`;
    const body = { label: "Till", network: "sandbox", xpub: xpubs.first };
    const made = await expectStatus(
      served.app.request("POST", home, { key: merchant.key, body }),
      201,
    );
    wallet = made.body;
  });

  const get = (path: string, key = merchant.key, headers: Record<string, string> = {}) =>
    served.app.request("GET", path, { key, headers });

  it("is read as it was created, even archived, with a tag that changes with it", async () => {
    const path = `${home}/${String(wallet["id"])}`;
    const read = await expectStatus(get(path), 200);
    expect(read.body).to.deep.equal(wallet);
    const tag = read.headers.get("ETag") ?? "";
    expect((await get(path, merchant.key, { "If-None-Match": tag })).status).to.equal(304);
    const { token } = await colleague(served.app, merchant, "viewer");
    expect((await served.app.request("GET", path, { token })).body).to.deep.equal(wallet);
    await expectStatus(served.app.request("POST", `${path}/archive`, { key: merchant.key }), 200);
    const archived = await get(path, merchant.key, { "If-None-Match": tag });
    expect(archived.status).to.equal(200);
    expect(archived.body["status"]).to.equal("archived");
  });

  it("of another organization gets 404, as does a malformed id", async () => {
    const stranger = await approvedMerchant(served.app);
    const theirs = `${stranger.path}/wallets`;
    const foreign = await get(`${theirs}/${String(wallet["id"])}`, stranger.key);
    expectProblem(foreign, 404, "not_found");
    for (const other of [`wal_${"0".repeat(26)}`, "nonsense", "wal_'--", merchant.userId]) {
      const unknown = await get(`${theirs}/${other}`, stranger.key);
      expect(withoutRequest(unknown), other).to.deep.equal(withoutRequest(foreign));
    }
    const query = await get(`${home}/${String(wallet["id"])}?fields=id`);
    expectProblem(query, 400, "invalid_request");
  });
});
