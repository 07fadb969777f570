import { expect } from "chai";
import { listSessions, endSession, getSession } from "../../../src/features/auth/sessions.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { pruneSessions } from "../../../src/features/auth/retention.ts";
import { refreshGrace, refreshTokenLife } from "../../../src/features/auth/login.ts";
import { hour } from "../../../src/kernel/clock.ts";
import {
  eachServed,
  password,
  register,
  startApp,
  type Answer,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { movingClock, stillClock } from "../../support/clock.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { countRows } from "../../support/store/dump.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { expectProblem, withoutRequest } from "../../http/problem.ts";

async function login(app: TestApp, person: Person): Promise<{ access: string; refresh: string }> {
  const answer = await app.request("POST", "/v1/auth/login", {
    body: { email: person.email, password },
  });
  return {
    access: answer.body["accessToken"] as string,
    refresh: answer.body["refreshToken"] as string,
  };
}

const refresh = (app: TestApp, refreshToken: string) =>
  app.request("POST", "/v1/auth/refresh", { body: { refreshToken } });
const tokenOf = (answer: Answer) => answer.body["refreshToken"] as string;
const look = (app: TestApp, person: Person, token: string) =>
  app.request("GET", person.path, { token });

eachServed("sessions", (served) => {
  const it = takeTurns(served.store);
  let person: Person;

  before(async () => {
    person = await register(served.app);
  });

  it("continue with a new token after each refresh", async () => {
    const { app } = served;
    const { refresh: first } = await login(app, person);
    const answer = await refresh(app, first);
    expect(answer.status).to.equal(200);
    expect(answer.body["user"]).to.include({ id: person.userId, email: person.email });
    expect(answer.body["memberships"]).to.have.length(1);
    const second = tokenOf(answer);
    expect(second)
      .to.match(/^till_refresh_/)
      .and.not.equal(first);
    expect((await look(app, person, answer.body["accessToken"] as string)).status).to.equal(200);
    const third = tokenOf(await refresh(app, second));
    expect(new Set([first, second, third]).size).to.equal(3);
  });

  it.onBoth("give 20 simultaneous refreshes the same successor, and stay valid", async () => {
    const { app } = served;
    let { refresh: token } = await login(app, person);
    for (let round = 0; round < 3; round += 1) {
      const current = token;
      const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(app, current)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      const successors = new Set(answers.map(tokenOf));
      expect(successors.size).to.equal(1);
      token = [...successors][0] ?? "";
    }
    expect((await refresh(app, token)).status).to.equal(200);
  });

  for (const [title, wait, useSuccessor] of [
    ["later", refreshGrace + 1, false],
    ["after its successor was used", 0, true],
  ] as const) {
    it(`are revoked when a token is reused ${title}`, async () => {
      const { app } = served;
      const { access, refresh: first } = await login(app, person);
      let newest = tokenOf(await refresh(app, first));
      if (useSuccessor) newest = tokenOf(await refresh(app, newest));
      app.clock.advance(wait);
      const before = await countRows(app.app.db, "audit_logs", "WHERE action = $1", [
        "session.reuse_detected",
      ]);
      expectProblem(await refresh(app, first), 401, "invalid_refresh_token");
      expectProblem(await refresh(app, newest), 401, "invalid_refresh_token");
      expectProblem(await look(app, person, access), 401, "unauthenticated");
      // Another session of the same user is not touched.
      expect((await refresh(app, (await login(app, person)).refresh)).status).to.equal(200);
      const entries = await app.app.db.all<Record<string, unknown>>(
        `SELECT actor_id AS "actor", organization_id AS "organization", ip AS "ip", changes AS "changes"
         FROM audit_logs WHERE action = 'session.reuse_detected' ORDER BY id`,
      );
      expect(entries.length).to.equal(before + 1);
      expect(entries.at(-1)).to.include({
        actor: person.userId,
        organization: null,
        ip: "127.0.0.1",
      });
    });
  }

  it.onBoth("are revoked once by ten simultaneous reuses", async () => {
    const { app } = served;
    const { refresh: first } = await login(app, person);
    await refresh(app, first);
    app.clock.advance(refreshGrace + 1);
    const count = () =>
      countRows(app.app.db, "audit_logs", "WHERE action = $1", ["session.reuse_detected"]);
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(app, first)));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 401));
    expect(await count()).to.equal(before + 1);
  });

  it("end immediately with logout, by any token of the family", async () => {
    const { app } = served;
    const { access, refresh: first } = await login(app, person);
    const next = await refresh(app, first);
    const out = await app.request("POST", "/v1/auth/logout", { body: { refreshToken: first } });
    expect(out.status).to.equal(204);
    expect(out.text).to.equal("");
    expectProblem(await look(app, person, access), 401, "unauthenticated");
    expectProblem(
      await look(app, person, next.body["accessToken"] as string),
      401,
      "unauthenticated",
    );
    for (const token of [first, tokenOf(next)]) {
      expectProblem(await refresh(app, token), 401, "invalid_refresh_token");
    }
    const again = await app.request("POST", "/v1/auth/logout", { body: { refreshToken: first } });
    expect(again.status).to.equal(204);
  });

  it("are ended once by the operator, who learns which are unknown", async () => {
    const { app } = served;
    const { access } = await login(app, person);
    const { db } = app.app;
    const { data } = await listSessions(app.app, { email: person.email.toUpperCase() });
    const newest = data[0]?.id ?? expect.fail("no session is listed");
    const revoked = () => countRows(db, "audit_logs", "WHERE action = $1", ["session.revoked"]);
    const before = await revoked();
    const ended = await endSession(app.app, testContext, newest);
    expect(ended.revokedAt).to.be.a("number");
    expect(await endSession(app.app, testContext, newest)).to.deep.equal(ended);
    expect(await getSession(app.app, newest)).to.deep.equal(ended);
    expect(await revoked()).to.equal(before + 1);
    expectProblem(await look(app, person, access), 401, "unauthenticated");
    const unknown = "ses_00000000000000000000000000" as Id<"session">;
    for (const ask of [
      () => endSession(app.app, testContext, unknown),
      () => getSession(app.app, unknown),
    ]) {
      const error = await ask().catch((thrown: unknown) => thrown);
      expect(error).to.include({ status: 404, code: "not_found" });
    }
  });

  it("reveal nothing about malformed tokens", async () => {
    const { app } = served;
    const { refresh: good } = await login(app, person);
    const unknown = await refresh(app, "till_refresh_unknown");
    expectProblem(unknown, 401, "invalid_refresh_token");
    for (const token of [`${good}x`, good.slice(0, -1), "' OR 1=1 --", "💩", "x".repeat(4_096)]) {
      expect(withoutRequest(await refresh(app, token))).to.deep.equal(withoutRequest(unknown));
      const out = await app.request("POST", "/v1/auth/logout", { body: { refreshToken: token } });
      expect(out.status).to.equal(204);
    }
    expectProblem(await refresh(app, ""), 400, "invalid_request");
    expect((await refresh(app, good)).status).to.equal(200);
  });

  it("expire after 30 days without use", async () => {
    const { app } = served;
    const { refresh: first } = await login(app, person);
    app.clock.advance(refreshTokenLife - 60_000);
    const second = tokenOf(await refresh(app, first));
    app.clock.advance(refreshTokenLife);
    expectProblem(await refresh(app, second), 401, "invalid_refresh_token");
  });

  it("have only the rights that the store has at each request", async () => {
    const { app } = served;
    const run = (sql: string) =>
      app.app.db.write(testContext, (tx) => tx.run(sql, [person.userId, person.organizationId]));
    const { access: token } = await login(app, person);
    const { path } = person;
    const rename = (name: string) => app.request("PATCH", path, { token, body: { name } });
    expect((await rename("Owner")).status).to.equal(200);
    for (const [role, status] of [
      ["admin", 200],
      ["member", 403],
      ["viewer", 403],
    ] as const) {
      await run(
        `UPDATE memberships SET role = '${role}' WHERE user_id = $1 AND organization_id = $2`,
      );
      expect((await rename(role)).status, role).to.equal(status);
      expect((await look(app, person, token)).status).to.equal(200);
    }
    await run("DELETE FROM memberships WHERE user_id = $1 AND organization_id = $2");
    expectProblem(await look(app, person, token), 404, "not_found");
    expectProblem(await rename("removed"), 404, "not_found");
  });
});

eachStore("sessions within the grace period", (store) => {
  it("return the same successor again while it is unused", async () => {
    const clock = stillClock(Date.now());
    const app = await startApp({
      place: await store.place("migrated"),
      clock,
      background: false,
    });
    try {
      const person = await register(app);
      const { refresh: first } = await login(app, person);
      const second = tokenOf(await refresh(app, first));
      clock.advance(refreshGrace);
      expect(tokenOf(await refresh(app, first))).to.equal(second);
      const third = tokenOf(await refresh(app, second));
      // It is used up with its last millisecond.
      clock.advance(refreshTokenLife);
      expectProblem(await refresh(app, third), 401, "invalid_refresh_token");
    } finally {
      await app.stop();
    }
  });
});

eachStore("sessions that are removed while a token of theirs is used", (store) => {
  for (const [title, isFamilyOver] of [
    ["with all of their tokens", true],
    ["except for a newer token", false],
  ] as const) {
    it(`are not refreshed: ${title}`, async () => {
      const clock = stillClock(Date.now());
      const app = await startApp({
        place: await store.place("migrated"),
        clock,
        background: false,
      });
      try {
        const { refresh: first } = await login(app, await register(app));
        if (!isFamilyOver) {
          clock.advance(hour);
          await refresh(app, first);
          clock.advance(-hour);
        }
        clock.advance(refreshTokenLife);
        const { db } = app.app;
        beforeNextWrite(db, () => pruneSessions(db, clock.now(), testContext));
        expectProblem(await refresh(app, first), 401, "invalid_refresh_token");
        expect(await countRows(db, "sessions")).to.equal(isFamilyOver ? 0 : 1);
      } finally {
        await app.stop();
      }
    });
  }
});

eachStore("sessions across processes", (store) => {
  it("return one successor, and end in all processes", async () => {
    const place = await store.place("migrated");
    const clock = movingClock();
    const [left, right] = [await startApp({ place, clock }), await startApp({ place, clock })];
    try {
      const person = await register(left);
      const { access, refresh: first } = await login(left, person);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => refresh(n % 2 === 0 ? left : right, first)),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map(tokenOf)).size).to.equal(1);
      const token = tokenOf(answers[0] as Answer);
      await left.request("POST", "/v1/auth/logout", { body: { refreshToken: token } });
      expectProblem(await refresh(right, token), 401, "invalid_refresh_token");
      expectProblem(await look(right, person, access), 401, "unauthenticated");
    } finally {
      await Promise.all([left.stop(), right.stop()]);
    }
  });
});
