import { expect } from "chai";
import {
  approvedMerchant,
  eachServed,
  register,
  type Person,
  type RequestOptions,
} from "../../support/app.ts";
import { expectProblem, placeOf, pointersOf } from "../problem.ts";

eachServed("the fields of a request", (served) => {
  let person: Person;
  let path: string;

  before(async () => {
    person = await register(served.app);
    ({ path } = person);
  });

  const patch = (options: RequestOptions) =>
    served.app.request("PATCH", path, { token: person.token, ...options });
  const createKey = (body: unknown) =>
    served.app.request("POST", `${path}/api-keys`, { token: person.token, body });

  describe("text", () => {
    it("refuses text that the databases would store differently, and names its field", async () => {
      const answer = await patch({
        raw: String.raw`{"name":"a\u0000b","displayName":"\ud800","address":"x\udc00\ud800","legalName":"ok"}`,
      });
      expect(pointersOf(answer)).to.deep.equal(["/address", "/displayName", "/name"]);
      const key = await createKey({ name: "k", scopes: ["read", "a\u0000"] });
      expect(pointersOf(key)).to.deep.equal(["/scopes/1"]);
    });

    it("refuses names that reach into prototypes, and later responses are unaffected", async () => {
      const before = await served.app.request("GET", path, { token: person.token });
      for (const [raw, pointer] of [
        ['{"__proto__":{"isAdmin":true}}', "/__proto__"],
        ['{"name":{"__proto__":null}}', "/name/__proto__"],
        [String.raw`{"__\u0070roto__":1}`, "/__proto__"],
        ['{"constructor":{"prototype":{"isAdmin":true}}}', "/constructor"],
        ['{"prototype":1}', "/prototype"],
        ['{"toString":1}', "/toString"],
        ['{"hasOwnProperty":1}', "/hasOwnProperty"],
        [String.raw`{"a\u0000b":1}`, "/a\u0000b"],
      ] as const) {
        expect(pointersOf(await patch({ raw })), raw).to.deep.equal([pointer]);
      }
      expect(({} as Record<string, unknown>)["isAdmin"]).to.equal(undefined);
      const after = await served.app.request("GET", path, { token: person.token });
      expect(after.text).to.equal(before.text);
      const query = await served.app.request("GET", `${path}?__proto__=1&constructor=2`, {
        token: person.token,
      });
      expect(pointersOf(query)).to.deep.equal(["?__proto__", "?constructor"]);
    });

    it("is returned exactly as given, on both databases", async () => {
      const texts = [
        'O\'Brien "& Söhne" <b>',
        "\\0 \\u0000 %00 \\",
        "💩 👩‍👩‍👧‍👦 ﷽ Z̷͑a̷l̷g̷o̷",
        "e\u0301 and é",
        "$1 $2 ? :name ${x} {{x}}",
        "'; DROP TABLE organizations; --",
        "١٢٣ １２３",
        "\ufffd\ufffe",
        "ﬀ İ ı ß",
      ];
      for (const text of texts) {
        const answer = await patch({ body: { name: text, address: `${text}\n\t${text}` } });
        expect(answer.status, text).to.equal(200);
        expect(answer.body["name"]).to.equal(text);
        const read = await served.app.request("GET", path, { token: person.token });
        expect(read.body["name"]).to.equal(text);
        expect(read.body["address"]).to.equal(`${text}\n\t${text}`);
      }
    });

    it("is trimmed; empty, long and multi-line values are refused", async () => {
      const trimmed = await patch({ body: { name: "  Shop \t" } });
      expect(trimmed.body["name"]).to.equal("Shop");
      for (const name of [
        "",
        " ",
        "\t\n",
        "a\nb",
        "a\rb",
        "a\u2028b",
        "a\u0007b",
        // Control characters beyond ASCII: to some terminals this one is an escape sequence.
        "a\u009b31mb",
        "x".repeat(10_000),
      ]) {
        expect(pointersOf(await patch({ body: { name } })), name.slice(0, 9)).to.deep.equal([
          "/name",
        ]);
      }
    });
  });

  it("refuse names without a visible character", async () => {
    for (const name of ["\u200b", "\u3164", "\u2800\u2800", "\ufe0f \u00ad", "\u115f"]) {
      const answer = await patch({ body: { name, displayName: `${name}1` } });
      expect(pointersOf(answer), encodeURIComponent(name)).to.deep.equal(["/name"]);
    }
  });

  it("refuse names that change the direction of the text beside them, and keep them elsewhere", async () => {
    for (const control of ["\u202a", "\u202e", "\u2066", "\u2069"]) {
      const text = `moc${control}.knab`;
      const answer = await patch({ body: { name: text, displayName: text } });
      expect(pointersOf(answer), encodeURIComponent(control)).to.have.members([
        "/name",
        "/displayName",
      ]);
      const address = await patch({ body: { address: text } });
      expect(address.body["address"]).to.equal(text);
    }
    // Marks do not reverse text, and names in Arabic and Hebrew have them.
    for (const name of ["مقهى زيورخ", "\u200fקפה\u200e 1", "\u061cمقهى"]) {
      expect((await patch({ body: { name } })).status, encodeURIComponent(name)).to.equal(200);
    }
  });

  it("refuse a query that is not valid UTF-8, and name its parameter", async () => {
    const list = (query: string) =>
      served.app.request("GET", `${path}/customers?${query}`, { token: person.token });
    for (const value of ["%ff", "%ed%a0%80", "a%c3", "%c0%af"]) {
      expect(pointersOf(await list(`limit=1&externalId=${value}`)), value).to.deep.equal([
        "?externalId",
      ]);
    }
    for (const value of ["%ef%bf%bd", "%F0%9F%92%A9", "50%", "%25_%zz", "a+b%2B"]) {
      expect((await list(`externalId=${value}`)).status, value).to.equal(200);
    }
  });

  it("accept the codes of existing countries", async () => {
    for (const country of ["XX", "ZZ", "UK", "EU", "SU", "AA", "D1", "de", ""]) {
      expect(pointersOf(await patch({ body: { country } })), country).to.deep.equal(["/country"]);
    }
    for (const country of ["GB", "TW", "XK", "AX", "DE"]) {
      expect((await patch({ body: { country } })).body["country"]).to.equal(country);
    }
  });

  describe("fields", () => {
    it("reports all wrong fields at once, each with a code", async () => {
      const answer = await patch({
        body: {
          name: null,
          displayName: 5,
          country: "de",
          website: "javascript:alert(1)",
          contactEmail: "nobody",
          address: [],
          legalName: {},
          status: "active",
          id: "org_1",
        },
      });
      const faults = expectProblem(answer, 400, "invalid_request");
      expect(Object.fromEntries(faults.map((fault) => [placeOf(fault), fault.code]))).to.deep.equal(
        {
          "/name": "invalid_type",
          "/displayName": "invalid_type",
          "/country": "invalid_format",
          "/website": "invalid_format",
          "/contactEmail": "invalid_format",
          "/address": "invalid_type",
          "/legalName": "invalid_type",
          "/status": "unknown_field",
          "/id": "unknown_field",
        },
      );
    });

    it("reports missing fields as required", async () => {
      const { app } = served;
      const faults = expectProblem(
        await app.request("POST", "/v1/auth/register", { body: { invitationToken: null } }),
        400,
        "invalid_request",
      );
      const required = faults.filter(({ code }) => code === "required");
      expect(required.map(placeOf).sort()).to.deep.equal([
        "/email",
        "/name",
        "/organizationName",
        "/password",
      ]);
      expect(pointersOf(await createKey({})).length).to.equal(2);
    });

    it("clears only nullable fields", async () => {
      await patch({
        body: { legalName: "L", website: "https://shop.example", contactEmail: "A@B.example" },
      });
      const cleared = await patch({ body: { legalName: null, website: null, contactEmail: null } });
      expect(cleared.body).to.include({ legalName: null, website: null, contactEmail: null });
      for (const name of ["name", "displayName"]) {
        expect(pointersOf(await patch({ body: { [name]: null } }))).to.deep.equal([`/${name}`]);
      }
    });

    it("refuses fields that only Till may set", async () => {
      for (const field of [
        "id",
        "status",
        "verificationStatus",
        "isPlatform",
        "version",
        "reviewNote",
        "kybSubmittedAt",
        "createdAt",
        "ownerId",
        "role",
        "organizationId",
      ]) {
        const answer = await patch({ body: { name: "x", [field]: "approved" } });
        expect(pointersOf(answer), field).to.deep.equal([`/${field}`]);
      }
      expect(
        pointersOf(await createKey({ name: "k", scopes: ["read"], secret: "x", createdBy: "y" })),
      ).to.deep.equal(["/createdBy", "/secret"]);
    });

    it("shortens the caller's text when it repeats it", async () => {
      const long = "k".repeat(200_000);
      const answers = [
        await patch({ body: { [long]: 1 } }),
        await patch({ body: { [long]: "\u0000" } }),
        await patch({
          body: Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`f${String(n)}`, 1])),
        }),
        await served.app.request("GET", `${path}?${"q".repeat(8_000)}=1`, { token: person.token }),
        await createKey({ name: "k", scopes: Array.from({ length: 20_000 }, () => "all") }),
      ];
      for (const answer of answers) {
        const faults = expectProblem(answer, 400, "invalid_request");
        expect(faults.length).to.be.within(1, 100);
        expect(answer.text.length).to.be.lessThan(32_768);
      }
    });

    it("refuses URLs that a browser would interpret differently", async () => {
      for (const website of [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "https://user:pass@shop.example",
        "https://shop.example@evil.example",
        "https:\\\\evil.example",
        "https://shop.example\\@evil.example",
        "https://shop.example/\r\nSet-Cookie: a=b",
        "https://shop.example/a b",
        "ftp://shop.example",
        "https://",
        "http://[",
        " https://shop.example",
        "https://@evil.example",
        `https://shop.example/${"x".repeat(2_048)}`,
      ]) {
        expect(pointersOf(await patch({ body: { website } })), website).to.deep.equal(["/website"]);
      }
      for (const website of [
        "https://shop.example",
        "http://shop.example:8080/a?b=c#d",
        "https://münchen.example/ü",
        "https://shop.example/@name",
      ]) {
        expect((await patch({ body: { website } })).body["website"]).to.equal(website);
      }
    });
  });

  describe("query parameters", () => {
    it("refuses unknown and repeated parameters by name", async () => {
      const { token } = person;
      const unknown = await served.app.request("GET", `${path}?limit=1&a=1&a=2`, { token });
      expect(pointersOf(unknown)).to.deep.equal(["?a", "?limit"]);
      const posted = await served.app.request("POST", `${path}/kyb/submit?x=1`, { token });
      expect(pointersOf(posted)).to.deep.equal(["?x"]);
    });
  });

  it("give an API key the same response as a session", async () => {
    const merchant = await approvedMerchant(served.app);
    const answer = await served.app.request("PATCH", merchant.path, {
      key: merchant.key,
      body: { name: null, x: 1 },
    });
    expect(pointersOf(answer)).to.deep.equal(["/name", "/x"]);
  });
});
