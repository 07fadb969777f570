import { expect } from "chai";
import { createHmac, createSecretKey } from "node:crypto";
import { SignJWT } from "jose";
import { minute } from "../../../src/kernel/clock.ts";
import { deriveKey } from "../../../src/platform/secrets/server-secret.ts";
import { anyServed, password, register, type Person } from "../../support/app.ts";
import { expectProblem, withoutRequest } from "../../http/problem.ts";

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token's header and claims. */
function decode(token: string): {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
} {
  const [header = "", claims = ""] = token.split(".");
  const parse = (part: string) =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return { header: parse(header), claims: parse(claims) };
}

anyServed("access tokens", (served) => {
  let person: Person;
  let path: string;

  before(async () => {
    person = await register(served.app);
    ({ path } = person);
  });

  const look = (token: string) => served.app.request("GET", path, { token });

  it("contain issuer, audience, user, session and expiry, and nothing else", () => {
    const { header, claims } = decode(person.token);
    expect(header).to.deep.equal({ alg: "HS256", typ: "at+jwt" });
    expect(Object.keys(claims).sort()).to.deep.equal(["aud", "exp", "iat", "iss", "sid", "sub"]);
    expect(claims["sub"]).to.equal(person.userId);
    expect(Number(claims["exp"]) - Number(claims["iat"])).to.equal(15 * 60);
  });

  it("are refused if altered, signed with another key, or issued for another purpose", async () => {
    const { header, claims } = decode(person.token);
    const [head = "", body = "", signature = ""] = person.token.split(".");
    const empty = new Uint8Array(1);
    const signed = (alg: string, key: Uint8Array, changes: object = {}) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg, typ: "at+jwt" }).sign(key);
    const emptyKey = (text: string) => createHmac("sha256", "").update(text).digest("base64url");
    const none = `${base64({ alg: "none", typ: "at+jwt" })}.${body}`;
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    const bad: Record<string, string> = {
      "algorithm none": `${none}.`,
      "algorithm None": `${base64({ alg: "None", typ: "at+jwt" })}.${body}.`,
      "none with the old signature": `${none}.${signature}`,
      "no signature": `${head}.${body}.`,
      "two parts": `${head}.${body}`,
      "a flipped signature": `${head}.${body}.${flipped}`,
      "a cut signature": `${head}.${body}.${signature.slice(0, -4)}`,
      "another subject": `${head}.${base64({ ...claims, sub: "usr_x" })}.${signature}`,
      "another session": `${head}.${base64({ ...claims, sid: "ses_x" })}.${signature}`,
      "a longer life": `${head}.${base64({ ...claims, exp: 9_999_999_999 })}.${signature}`,
      "no end": `${head}.${base64({ ...claims, exp: undefined })}.${signature}`,
      "a key id that is a path": `${base64({ ...header, kid: "../../dev/null" })}.${body}.${signature}`,
      "a key of its own": `${base64({ ...header, jwk: { kty: "oct", k: "AA" } })}.${body}.${signature}`,
      "an empty key": `${head}.${body}.${emptyKey(`${head}.${body}`)}`,
      "a guessed key": await signed("HS256", Buffer.from("secret".repeat(6))),
      "a key of one zero": await signed("HS256", Buffer.concat([empty, new Uint8Array(31)])),
      HS512: await signed("HS512", new Uint8Array(64)),
      HS384: await signed("HS384", new Uint8Array(48)),
      "a critical header": `${base64({ ...header, crit: ["exp"] })}.${body}.${signature}`,
      junk: "a.b.c",
      "very long": `${head}.${"A".repeat(8_000)}.${signature}`,
    };
    const first = await look("x");
    expectProblem(first, 401, "unauthenticated");
    for (const [name, token] of Object.entries(bad)) {
      expect(withoutRequest(await look(token)), name).to.deep.equal(withoutRequest(first));
    }
    expect((await look(person.token)).status).to.equal(200);
  });

  it("are refused if signed with the right key but of another type", async () => {
    const { claims } = decode(person.token);
    const secret = createSecretKey(
      Buffer.from("a secret of the tests, longer than thirty-two bytes"),
    );
    const key = deriveKey(secret, "access-tokens");
    const sign = (changes: object, header: { alg: string; typ?: string }) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader(header).sign(key);
    const right = { alg: "HS256", typ: "at+jwt" };
    expect((await look(await sign({}, right))).status, "the key is the one").to.equal(200);
    for (const [name, token] of [
      ["issuer", await sign({ iss: "other" }, right)],
      ["audience", await sign({ aud: "other" }, right)],
      ["type", await sign({}, { alg: "HS256", typ: "JWT" })],
      ["no type", await sign({}, { alg: "HS256" })],
      ["HS512", await sign({}, { alg: "HS512", typ: "at+jwt" })],
      ["no session", await sign({ sid: undefined }, right)],
      ["a session that is none", await sign({ sid: "ses_1' OR 1=1" }, right)],
      ["a session that is not text", await sign({ sid: 5 }, right)],
      ["no end", await sign({ exp: undefined }, right)],
      ["an end in the past", await sign({ exp: 1 }, right)],
      ["not yet", await sign({ nbf: 9_999_999_999 }, right)],
    ] as const) {
      expect((await look(token)).status, name).to.equal(401);
    }
    const other = await new SignJWT(claims)
      .setProtectedHeader(right)
      .sign(deriveKey(secret, "refresh-tokens"));
    expectProblem(await look(other), 401, "unauthenticated");
  });

  it("are not interchangeable with refresh tokens", async () => {
    const { app } = served;
    const login = await app.request("POST", "/v1/auth/login", {
      body: { email: person.email, password },
    });
    const refreshToken = login.body["refreshToken"] as string;
    const accessToken = login.body["accessToken"] as string;
    expectProblem(await look(refreshToken), 401, "unauthenticated");
    const headers = { "X-Service-Key": refreshToken };
    expectProblem(await app.request("GET", path, { headers }), 401, "unauthenticated");
    const refreshed = await app.request("POST", "/v1/auth/refresh", {
      body: { refreshToken: accessToken },
    });
    expectProblem(refreshed, 401, "invalid_refresh_token");
    const out = { body: { refreshToken: accessToken } };
    expect((await app.request("POST", "/v1/auth/logout", out)).status).to.equal(204);
    expect((await look(accessToken)).status).to.equal(200);
  });

  it("expire after 15 minutes", async () => {
    const { app } = served;
    const askedAt = app.clock.now();
    const login = await app.request("POST", "/v1/auth/login", {
      body: { email: person.email, password },
    });
    const token = login.body["accessToken"] as string;
    // The time is given in whole seconds.
    expect(Date.parse(login.body["accessTokenExpiresAt"] as string)).to.be.within(
      askedAt + 15 * minute - 1_000,
      app.clock.now() + 15 * minute,
    );
    app.clock.advance(14 * minute);
    expect((await look(token)).status).to.equal(200);
    app.clock.advance(minute + 1_000);
    expectProblem(await look(token), 401, "unauthenticated");
  });
});
