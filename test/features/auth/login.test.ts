import { expect } from "chai";
import { createPasswordReset } from "../../../src/features/auth/passwords.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { passwordCost } from "../../../src/platform/secrets/passwords.ts";
import { newToken, systemRandom } from "../../../src/platform/secrets/tokens.ts";
import {
  anyServed,
  password,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { countStatements } from "../../support/store/statement-counter.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { expectProblem, withoutRequest } from "../../http/problem.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const wrong = "not the password of anybody";

function login(
  app: TestApp,
  email: string,
  given = password,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.request("POST", "/v1/auth/login", { body: { email, password: given }, headers });
}

function tryRegister(app: TestApp, changes: object): Promise<Answer> {
  return app.request("POST", "/v1/auth/register", {
    body: { email: "new@example.com", password, name: "N", organizationName: "O", ...changes },
  });
}

/** Work is compared: passwords are hashed at the real cost, and nothing else runs in the process. */
const alone = { outside: { passwordCost }, background: false };

interface Work {
  readonly answer: Answer;
  /** The processor time of the whole process, which the load of the machine changes little. */
  readonly cpuMs: number;
  readonly statements: number;
}

async function workOf(call: () => Promise<Answer>): Promise<Work> {
  const counter = countStatements();
  try {
    const before = cpuMs();
    const answer = await call();
    return { answer, cpuMs: cpuMs() - before, statements: counter.take().statements };
  } finally {
    counter.stop();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

anyServed(
  "login",
  (served) => {
    let person: Person;
    beforeEach(async () => {
      person = await register(served.app);
    });

    it("ignores the case of the e-mail address", async () => {
      const { app } = served;
      const answer = await login(app, person.email.toUpperCase());
      expect(answer.status).to.equal(200);
      expect(answer.body["tokenType"]).to.equal("Bearer");
      const again = await tryRegister(app, { email: person.email.toUpperCase() });
      expectProblem(again, 409, "email_unavailable");
    });

    it("refuses an unknown address like a wrong password, after the same work", async () => {
      const { app } = served;
      const pairs: Record<"known" | "unknown", Work>[] = [];
      // Each pair of account and address takes nine failures; a new person has nine more.
      for (let round = 0; round < 3; round += 1) {
        const emails = {
          known: (await register(app)).email,
          unknown: `nobody${String(round)}@example.com`,
        };
        for (let n = 0; n < 8; n += 1) {
          const tryOne = (kind: keyof typeof emails) =>
            workOf(() => login(app, emails[kind], wrong));
          const first = n % 2 === 0 ? "known" : "unknown";
          const work = { [first]: await tryOne(first) } as Record<"known" | "unknown", Work>;
          const second = n % 2 === 0 ? "unknown" : "known";
          work[second] = await tryOne(second);
          expect(withoutRequest(work.known.answer)).to.deep.equal(
            withoutRequest(work.unknown.answer),
          );
          expect(work.known.statements).to.equal(work.unknown.statements);
          pairs.push(work);
        }
      }
      // Without the hash of a made-up password, an unknown address costs a thirtieth. The median of 24 differences between
      // neighbors varies by a few hundredths on a busy machine.
      const difference = median(pairs.map(({ known, unknown }) => known.cpuMs - unknown.cpuMs));
      const usual = median(pairs.map(({ known }) => known.cpuMs));
      expect(Math.abs(difference) / usual, "difference").to.be.below(0.25);
    });

    it("refuses tokens and keys that are used up like unknown ones, after the same queries", async () => {
      const { app } = served;
      const { token } = person;
      const home = person.path;
      const { token: resetToken } = await createPasswordReset(app.app, testContext, person);
      await createPasswordReset(app.app, testContext, person);
      const offer = { email: "else@example.com", role: "viewer" };
      const offered = await app.request("POST", `${home}/invitations`, { token, body: offer });
      const made = await app.request("POST", `${home}/api-keys`, {
        token,
        body: { name: "old", scopes: ["read"] },
      });
      await app.request("POST", `${home}/api-keys/${String(made.body["id"])}/revoke`, { token });
      const reset = (given: string) =>
        app.request("POST", "/v1/auth/password/reset", {
          body: { resetToken: given, newPassword: "another long password 7" },
        });
      const accept = (invitationToken: string) =>
        app.request("POST", "/v1/auth/invitations/accept", { token, body: { invitationToken } });
      const read = (key: string) => app.request("GET", home, { key });
      for (const [call, known, kind] of [
        [reset, resetToken, "passwordReset"],
        [accept, String(offered.body["token"]), "invitation"],
        [read, String(made.body["secret"]), "testKey"],
      ] as const) {
        const used = await workOf(() => call(known));
        const unknown = await workOf(() => call(newToken(kind, systemRandom)));
        expect(used.answer.status, used.answer.text).to.be.within(401, 422);
        expect(withoutRequest(used.answer), kind).to.deep.equal(withoutRequest(unknown.answer));
        expect([kind, used.statements]).to.deep.equal([kind, unknown.statements]);
      }
    });

    it("locks the pair of account and address after ten failures, for a while", async () => {
      const { app } = served;
      const other = await register(app);
      for (let n = 0; n < 10; n += 1) {
        expectProblem(await login(app, person.email, wrong), 401, "invalid_credentials");
      }
      const locked = await login(app, person.email, wrong);
      expectProblem(locked, 429, "login_locked");
      expect(Number(locked.headers.get("Retry-After"))).to.be.within(840, 900);
      expectProblem(await login(app, person.email, password), 429, "login_locked");
      expectProblem(await login(app, person.email.toUpperCase()), 429, "login_locked");
      expect((await login(app, other.email)).status).to.equal(200);
      app.clock.advance(15 * minute + 1_000);
      expect((await login(app, person.email)).status).to.equal(200);
    });

    it("locks an unknown account in the same way", async () => {
      const { app } = served;
      const answers: Answer[] = [];
      for (let n = 0; n < 12; n += 1) answers.push(await login(app, "ghost@example.com", wrong));
      expect(answers.map(({ status }) => status)).to.deep.equal([
        ...Array.from({ length: 10 }, () => 401),
        429,
        429,
      ]);
    });

    it("allows a burst no more guesses than sequential attempts", async () => {
      const { app } = served;
      const answers = await Promise.all(
        Array.from({ length: 64 }, () => login(app, person.email, wrong)),
      );
      expect(answers.filter(({ status }) => status === 401).length).to.equal(10);
      expect(answers.filter(({ status }) => status === 429).length).to.equal(54);
    });

    it("admits many users at once with the right password", async () => {
      const { app } = served;
      const answers = await Promise.all(Array.from({ length: 30 }, () => login(app, person.email)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    });

    it("resets the failures with the right password", async () => {
      const { app } = served;
      for (let round = 0; round < 2; round += 1) {
        for (let n = 0; n < 9; n += 1) await login(app, person.email, wrong);
        expect((await login(app, person.email)).status).to.equal(200);
      }
    });
  },
  alone,
);

anyServed("passwords at registration", (served) => {
  it("have 8 to 256 characters and are not among the most common ones", async () => {
    const { app } = served;
    const before = await countRows(app.app.db, "users");
    for (const bad of [
      "",
      "1234567",
      "sevench",
      "é".repeat(7),
      "💩".repeat(7),
      "x".repeat(257),
      "password",
      "PASSWORD",
      "Password1",
      "12345678",
      "qwertyuiop",
      "iloveyou",
    ]) {
      const faults = expectProblem(await tryRegister(app, { password: bad }), 422, "weak_password");
      expect(faults.map(({ pointer }) => pointer)).to.deep.equal(["/password"]);
    }
    expect(await countRows(app.app.db, "users")).to.equal(before);
    expectProblem(await tryRegister(app, { password: "x".repeat(2_000) }), 400, "invalid_request");
    expectProblem(await tryRegister(app, { password: null }), 400, "invalid_request");
  });

  it("are compared up to the last character, in any script", async () => {
    const { app } = served;
    const cases = {
      long: "y".repeat(255) + "1",
      "beyond 72 bytes": `${"z".repeat(72)}abc`,
      unicode: "пароль 密码 🔑 é",
      spaces: "   leading and trailing   ",
    };
    let count = 0;
    for (const [name, given] of Object.entries(cases)) {
      count += 1;
      const email = `p${String(count)}@example.com`;
      expect((await tryRegister(app, { email, password: given })).status, name).to.equal(201);
      expect((await login(app, email, given)).status, name).to.equal(200);
      expect((await login(app, email, `${given.slice(0, -1)}#`)).status, name).to.equal(401);
      expect((await login(app, email, given.slice(0, -1))).status, name).to.equal(401);
    }
    // The same letters, typed as other code points.
    expect((await login(app, "p3@example.com", cases.unicode.normalize("NFD"))).status).to.equal(
      200,
    );
  });
});

eachStore("registration", (store) => {
  const it = takeTurns(store);
  let app: TestApp | undefined;
  const start = async (settings: Record<string, string>) => {
    app = await startApp({ place: await store.place("migrated"), settings });
    return app;
  };
  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });

  for (const mode of ["closed", "invite"]) {
    it(`is refused in the mode ${mode}, even with an invitation`, async () => {
      const at = await start({ TILL_REGISTRATION: mode });
      const refused = await tryRegister(at, {});
      expectProblem(refused, 403, "registration_closed");
      const bad = await tryRegister(at, { invitationToken: "till_invite_nonsense" });
      expect(bad.status).to.equal(mode === "closed" ? 403 : 422);
      expect(await countRows(at.app.db, "users")).to.equal(0);
      expect(await countRows(at.app.db, "organizations")).to.equal(0);
    });
  }

  it.onBoth("creates one account if 20 requests use the same address at once", async () => {
    const at = await start({});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        tryRegister(at, { email: n % 2 === 0 ? "race@example.com" : "RACE@example.com" }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      201,
      ...Array.from({ length: 19 }, () => 409),
    ]);
    for (const table of ["users", "organizations", "memberships", "sessions"]) {
      expect(await countRows(at.app.db, table), table).to.equal(1);
    }
  });

  it("locks after 10 failures per client behind a trusted proxy", async () => {
    const at = await start({ TILL_TRUST_PROXY: "127.0.0.1" });
    const person = await register(at);
    const from = (address: string, given = wrong) =>
      login(at, person.email, given, { "X-Forwarded-For": address });
    for (let n = 0; n < 10; n += 1) await from("203.0.113.1");
    expectProblem(await from("203.0.113.1", password), 429, "login_locked");
    expect((await from("203.0.113.2", password)).status).to.equal(200);
    // One customer's IPv6 addresses are one source.
    for (let n = 0; n < 10; n += 1) await from(`2001:db8:0:1::${String(n + 1)}`);
    expectProblem(await from("2001:db8:0:1::ffff", password), 429, "login_locked");
  });

  it("lets others log in while one address tries 64 accounts at once, as often as its limit allows", async () => {
    const at = await start({
      TILL_TRUST_PROXY: "127.0.0.1",
      TILL_RATE_LIMIT_SCALE: "1",
      TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "10",
    });
    const person = await register(at);
    const from = (address: string, email: string, given: string) =>
      login(at, email, given, { "X-Forwarded-For": address });
    const flood = Array.from({ length: 64 }, (_, place) =>
      from("203.0.113.1", `account${String(place)}@example.com`, wrong),
    );
    const others = Array.from({ length: 4 }, (_, place) =>
      from(`198.51.100.${String(place)}`, person.email, password),
    );
    expect((await Promise.all(others)).map(({ status }) => status)).to.deep.equal(
      others.map(() => 200),
    );
    const answers = await Promise.all(flood);
    expect(answers.filter(({ status }) => status === 401)).to.have.length(10);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(54);
    for (const refused of answers.filter(({ status }) => status === 429)) {
      expectProblem(refused, 429, "rate_limited");
      expect(Number(refused.headers.get("Retry-After"))).to.be.within(1, 60);
    }
    // Nor does the flood lock anybody out of the account that it guesses.
    expect((await from("198.51.100.9", person.email, password)).status).to.equal(200);
  });
});
