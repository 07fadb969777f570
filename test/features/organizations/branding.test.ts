import { expect } from "chai";
import {
  eachServed,
  legalFields,
  platformAdmin,
  register,
  type Person,
} from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { aPng } from "../../support/pictures/pictures.ts";
import { takeTurns } from "../../support/store/stores.ts";
import { expectProblem } from "../../http/problem.ts";

eachServed("the logo and the color of an organization", (served) => {
  const it = takeTurns(served.store);
  let admin: Person;
  before(async () => {
    admin = await platformAdmin(served.app);
  });

  // Organizations of other tests have other logos: a file is served as long as one has it.
  let first: string;
  let second: string;
  let tests = 0;
  beforeEach(() => {
    tests += 1;
    first = aPng(64, 63 + tests).toString("base64");
    second = aPng(96, 47 + tests).toString("base64");
  });

  const pathOf = (person: Person) => person.path;
  const change = (person: Person, body: object) =>
    served.app.request("PATCH", pathOf(person), { token: person.token, body });
  const decide = (person: Person, decision: string) =>
    served.app.request("POST", `/v1/admin/organizations/${person.organizationId}/verification`, {
      token: admin.token,
      body: { decision, note: "because" },
    });
  const load = (path: unknown) => fetch(served.app.url + String(path));
  const stored = (person: Person) =>
    countRows(served.app.app.db, "organization_logos", "WHERE organization_id = $1", [
      person.organizationId,
    ]);

  async function approved(): Promise<Person> {
    const person = await register(served.app);
    await change(person, legalFields);
    await served.app.request("POST", `${pathOf(person)}/kyb/submit`, { token: person.token });
    expect((await decide(person, "approve")).status).to.equal(200);
    return person;
  }

  it("are set beside the name, and the file is served as it is, for ever and as nothing else", async () => {
    const person = await register(served.app);
    const { status, body } = await change(person, { accentColor: "#7A1F5C", logo: first });
    expect(status).to.equal(200);
    expect(body).to.include({ accentColor: "#7a1f5c", pendingLogoPath: null });
    const file = await load(body["logoPath"]);
    expect(Buffer.from(await file.arrayBuffer()).toString("base64")).to.equal(first);
    expect(file.headers.get("content-type")).to.equal("image/png");
    expect(file.headers.get("x-content-type-options")).to.equal("nosniff");
    expect(file.headers.get("cache-control")).to.contain("immutable");
    expect(file.headers.get("content-security-policy")).to.contain("default-src 'none'");
  });

  it("replace and remove the file, but not that of another organization with the same logo", async () => {
    const [person, other] = [await register(served.app), await register(served.app)];
    await change(other, { logo: first });
    const { body: before } = await change(person, { logo: first });
    const { body: after } = await change(person, { logo: second });
    expect(after["logoPath"]).not.to.equal(before["logoPath"]);
    expect(await stored(person)).to.equal(1);
    expect((await load(before["logoPath"])).status, "the other's").to.equal(200);
    const { body: removed } = await change(person, { logo: null });
    expect(removed["logoPath"]).to.equal(null);
    expect((await load(after["logoPath"])).status).to.equal(404);
    await change(other, { logo: null });
    expect((await load(before["logoPath"])).status).to.equal(404);
  });

  it("stay as they are if the same logo is sent again", async () => {
    const person = await register(served.app);
    const { body: before } = await change(person, { logo: first });
    const { body: after } = await change(person, { logo: first });
    expect(after).to.deep.equal(before);
    expect(await stored(person)).to.equal(1);
  });

  it("let an approved organization's new logo wait for the review, and no color", async () => {
    const person = await approved();
    const { body } = await change(person, { logo: first, accentColor: "#ffd400" });
    expect(body).to.include({
      logoPath: null,
      accentColor: "#ffd400",
      verificationStatus: "approved",
    });
    // The reviewer can look at it.
    expect((await load(body["pendingLogoPath"])).status).to.equal(200);
    expect((await decide(person, "reject")).status).to.equal(200);
    expect((await load(body["pendingLogoPath"])).status).to.equal(404);

    const { body: again } = await change(person, { logo: first });
    const { body: decided } = await decide(person, "approve");
    expect(decided).to.include({ logoPath: again["pendingLogoPath"], pendingLogoPath: null });
    const { body: removed } = await change(person, { logo: null });
    expect(removed, "no review is needed to show none").to.include({
      logoPath: null,
      pendingLogoPath: null,
    });
    expect(await stored(person)).to.equal(0);
  });

  it("let the shown logo stay until the new one is approved", async () => {
    const person = await register(served.app);
    const { body: before } = await change(person, { ...legalFields, logo: first });
    await served.app.request("POST", `${pathOf(person)}/kyb/submit`, { token: person.token });
    expectProblem(await change(person, { logo: second }), 409, "organization_in_review");
    await decide(person, "approve");
    const { body: waiting } = await change(person, { logo: second });
    expect(waiting["logoPath"]).to.equal(before["logoPath"]);
    expect(await stored(person)).to.equal(2);
    await change(person, { logo: first });
    expect(await stored(person), "taken back").to.equal(1);
  });

  it("are refused in any other form, with what to do, and nothing is stored", async () => {
    const person = await register(served.app);
    const cases: readonly (readonly [logo: unknown, message: RegExp])[] = [
      ["", /PNG, JPEG or WebP/],
      ["no base64!", /Base64/],
      [Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64"), /PNG, JPEG/],
      [aPng(64, 64).subarray(0, -20).toString("base64"), /PNG, JPEG or WebP file of one picture/],
      [
        Buffer.concat([aPng(64, 64), Buffer.from("<script>")]).toString("base64"),
        /PNG, JPEG or WebP file of one picture/,
      ],
      [aPng(31, 64).toString("base64"), /32 to 1024 pixels wide and high, not 31 by 64/],
      [aPng(64, 1_025).toString("base64"), /not 64 by 1025/],
      [Buffer.alloc(65 * 1_024, "a").toString("base64"), /at most 87384 characters/],
      [7, /./],
    ];
    for (const [logo, message] of cases) {
      const [fault] = expectProblem(await change(person, { logo }), 400, "invalid_request");
      expect(fault?.pointer).to.equal("/logo");
      expect(fault?.message).to.match(message);
    }
    for (const accentColor of ["red", "#12345", "#1234567", "#12345g", "", "#0b5f4e;}"]) {
      const [fault] = expectProblem(await change(person, { accentColor }), 400, "invalid_request");
      expect(fault?.pointer).to.equal("/accentColor");
    }
    expect(await stored(person)).to.equal(0);
    for (const name of ["logo.png", `logo.${"0".repeat(32)}.png`, `logo.${"0".repeat(32)}.svg`]) {
      expect((await load(`/pay/assets/${name}`)).status, name).to.equal(404);
    }
  });

  it("are not another tenant's to set", async () => {
    const [person, other] = [await register(served.app), await register(served.app)];
    const answer = await served.app.request("PATCH", pathOf(person), {
      token: other.token,
      body: { logo: first },
    });
    expectProblem(answer, 404, "not_found");
    expect(await stored(person)).to.equal(0);
  });
});
