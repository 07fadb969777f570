// Changing and resetting a password over HTTP, on both databases.
import { expect } from "chai";
import { createPasswordReset, isUsable } from "../../../src/features/auth/passwords.ts";
import { prunePasswordResets } from "../../../src/features/auth/retention.ts";
import { day } from "../../../src/kernel/clock.ts";
import { newToken, systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import {
  expectStatus,
  keyOf,
  password,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const newPassword = "another long password of the tests 8";

eachStore("a password", (store) => {
  let app: TestApp;
  let ada: Person;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
  });
  beforeEach(async () => {
    ada = await register(app);
  });
  after(() => app.stop());

  const login = (given: string): Promise<Answer> =>
    app.request("POST", "/v1/auth/login", { body: { email: ada.email, password: given } });
  const tokenOf = async (given: string) =>
    (await expectStatus(login(given), 200)).body["accessToken"] as string;
  const change = (token: string, currentPassword: string, to = newPassword) =>
    app.request("POST", "/v1/auth/password", { token, body: { currentPassword, newPassword: to } });
  const looks = (token: string) => app.request("GET", ada.path, { token });
  const createReset = () =>
    createPasswordReset(app.app, testContext, { email: ada.email.toUpperCase() });
  const reset = (resetToken: string, to = newPassword) =>
    app.request("POST", "/v1/auth/password/reset", { body: { resetToken, newPassword: to } });
  const refused = (answer: Answer) =>
    expect([answer.status, answer.body["code"]]).to.deep.equal([422, "invalid_reset_token"]);

  it("is changed by a user who knows the current one, which ends the other sessions", async () => {
    const session = await expectStatus(login(password), 200);
    const other = session.body["accessToken"] as string;
    await expectStatus(change(ada.token, password), 204);
    await expectStatus(looks(ada.token), 200);
    await expectStatus(looks(other), 401);
    await expectStatus(
      app.request("POST", "/v1/auth/refresh", {
        body: { refreshToken: session.body["refreshToken"] },
      }),
      401,
    );
    await expectStatus(login(password), 401);
    await expectStatus(login(newPassword), 200);
    const entries = await app.app.db.find(
      auditLogs,
      "WHERE target_id = $1 AND action = 'user.password_changed'",
      [ada.userId],
    );
    expect(entries.map(({ actorId, organizationId }) => [actorId, organizationId])).to.deep.equal([
      [ada.userId, null],
    ]);
  });

  it("is not changed with a wrong current one, a weak new one, or an API key", async () => {
    const wrong = await change(ada.token, "not the password");
    expect([wrong.status, wrong.body["code"]]).to.deep.equal([422, "wrong_password"]);
    for (const weak of ["short", "password123", "x".repeat(257), ada.email.toUpperCase()]) {
      const answer = await change(ada.token, password, weak);
      expect([answer.status, answer.body["code"]], weak).to.deep.equal([422, "weak_password"]);
      expect(JSON.stringify(answer.body["errors"])).to.include("/newPassword");
    }
    const byKey = await app.request("POST", "/v1/auth/password", {
      key: await keyOf(app, ada, "write"),
      body: { currentPassword: password, newPassword },
    });
    expect([byKey.status, byKey.body["code"]]).to.deep.equal([403, "user_needed"]);
    await expectStatus(
      app.request("POST", "/v1/auth/password", {
        body: { currentPassword: password, newPassword },
      }),
      401,
    );
    await expectStatus(login(password), 200);
  });

  it("is protected by the login lock against guesses from an open session", async () => {
    for (let guess = 0; guess < 10; guess += 1) {
      await expectStatus(change(ada.token, `guess ${String(guess)}`), 422);
    }
    const locked = await change(ada.token, password);
    expect([locked.status, locked.body["code"]]).to.deep.equal([429, "login_locked"]);
    expect(locked.headers.get("Retry-After")).not.to.equal(null);
  });

  it("is changed once by two simultaneous changes", async () => {
    const answers = await Promise.all([
      change(ada.token, password, "the first of two new ones"),
      change(ada.token, password, "the second of two new ones"),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, 422]);
  });

  it("opens no session while it is being changed", async () => {
    const [changed, ...logins] = await Promise.all([
      change(ada.token, password),
      ...Array.from({ length: 6 }, () => login(password)),
    ]);
    expect(changed.status).to.equal(204);
    for (const answer of logins) {
      if (answer.status !== 200) continue;
      await expectStatus(looks(answer.body["accessToken"] as string), 401);
    }
  });

  it("is reset once by the operator's token, which ends every session", async () => {
    const askedAt = app.clock.now();
    const { token, expiresAt } = await createReset();
    expect(token).to.match(/^till_reset_/);
    expect(expiresAt).to.be.within(askedAt + day, app.clock.now() + day);
    await expectStatus(reset(token, "short"), 422);
    await expectStatus(reset(token), 204);
    await expectStatus(looks(ada.token), 401);
    await expectStatus(login(password), 401);
    await tokenOf(newPassword);
    refused(await reset(token, "one more password 9"));
    // A used token learns nothing about a password, and costs no hash.
    refused(await reset(token, "short"));
    const entries = await app.app.db.find(
      auditLogs,
      "WHERE target_id = $1 AND action LIKE 'user.password%' ORDER BY id",
      [ada.userId],
    );
    expect(entries.map(({ action }) => action)).to.deep.equal([
      "user.password_reset_created",
      "user.password_reset",
    ]);
    const rows = JSON.stringify(await app.app.db.all("SELECT * FROM password_resets"));
    expect(rows).not.to.include(token);
  });

  it("is reset by only one of many simultaneous attempts", async () => {
    const { token } = await createReset();
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, n) => reset(token, `a password of racer ${String(n)}`)),
    );
    expect(answers.filter(({ status }) => status === 204)).to.have.length(1);
    for (const answer of answers) if (answer.status !== 204) refused(answer);
  });

  it("cannot be reset after a newer token, a changed password, or a day", async () => {
    const first = await createReset();
    const second = await createReset();
    refused(await reset(first.token));
    await expectStatus(change(ada.token, password), 204);
    refused(await reset(second.token));
    const third = await createReset();
    app.clock.advance(day);
    refused(await reset(third.token));
    refused(await reset(third.token, "short"));
    refused(await reset(newToken("passwordReset", systemRandom)));
    for (const bad of ["x", third.token.slice(0, -1), third.token.replace("reset", "invite")]) {
      refused(await reset(bad));
    }
  });

  it("cannot be reset by a token that expires and is removed while the new one is hashed", async () => {
    const { token } = await createReset();
    const { db } = app.app;
    beforeNextWrite(db, async () => {
      app.clock.advance(day);
      await prunePasswordResets(db, app.clock.now(), testContext);
    });
    refused(await reset(token));
    await expectStatus(login(password), 200);
  });

  it("unlocks the login when it is reset", async () => {
    for (let guess = 0; guess < 10; guess += 1) await login("wrong");
    await expectStatus(login(password), 429);
    const { token } = await createReset();
    await expectStatus(reset(token), 204);
    await expectStatus(login(newPassword), 200);
  });

  it("gets no reset token for an address without an account", async () => {
    const problem: unknown = await createPasswordReset(app.app, testContext, {
      email: "nobody@example.com",
    }).catch((error: unknown) => error);
    expect(problem).to.have.property("status", 404);
  });
});

describe("the reset of a password", () => {
  it("can be used once, until it expires", () => {
    const expiresAt = 1_800_000_000_000;
    expect(isUsable({ usedAt: null, expiresAt }, expiresAt - 1)).to.equal(true);
    expect(isUsable({ usedAt: null, expiresAt }, expiresAt)).to.equal(false);
    expect(isUsable({ usedAt: expiresAt - 9, expiresAt }, expiresAt - 1)).to.equal(false);
  });
});
