import { expect } from "chai";
import { prunePasswordResets, pruneSessions } from "../../../src/features/auth/retention.ts";
import { createPasswordReset, passwordResetLife } from "../../../src/features/auth/passwords.ts";
import { refreshTokenLife } from "../../../src/features/auth/login.ts";
import { passwordResets, refreshTokens, sessions } from "../../../src/features/auth/store.ts";
import { invitationKeptFor, pruneInvitations } from "../../../src/features/members/invitations.ts";
import { invitations, users } from "../../../src/features/members/store.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import { day } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { maintenanceSchedule } from "../../../src/compose/maintenance.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { expectProblem } from "../../http/problem.ts";
import { newIds } from "../../support/context.ts";
import { password, register, eachServed } from "../../support/app.ts";
import { countRows } from "../../support/store/dump.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

eachStore("the retention of login data", (store) => {
  const ids = newIds();
  const userId = ids.next("user", now);
  let db: Database;
  let tokens = 0;

  before(async () => {
    db = await store.open();
    await db.write(testContext, (tx) =>
      tx.insert(users, {
        id: userId,
        email: "ada@example.com",
        name: "Ada",
        passwordHash: "",
        createdAt: 0,
      }),
    );
  });

  async function addSession(...expiries: readonly number[]): Promise<Id<"session">> {
    const id = ids.next("session", now);
    await db.write(testContext, async (tx) => {
      await tx.insert(sessions, { id, userId, createdAt: 0, revokedAt: null });
      await tx.insertMany(
        refreshTokens,
        expiries.map((expiresAt) => {
          tokens += 1;
          const tokenHash = `hash ${String(tokens)}`;
          return { tokenHash, sessionId: id, createdAt: 0, expiresAt, usedAt: 1 };
        }),
      );
    });
    return id;
  }

  it("keeps refresh tokens until they expire, and sessions as long as one of their tokens", async () => {
    const long = await addSession(...Array.from({ length: 2_300 }, (_, n) => now - n));
    const rotated = await addSession(now - 1, now, now + 1, now + 2);
    const fresh = await addSession(now + day);
    expect(await pruneSessions(db, now, testContext)).to.equal(true);
    expect(await pruneSessions(db, now, testContext)).to.equal(true);
    expect(await pruneSessions(db, now, testContext)).to.equal(false);
    const left = await db.find(sessions, "ORDER BY id");
    expect(left.map(({ id }) => id)).to.have.members([rotated, fresh]);
    expect(left).not.to.deep.include({ id: long });
    const kept = await db.find(refreshTokens, "ORDER BY expires_at");
    expect(kept.map(({ expiresAt }) => expiresAt)).to.deep.equal([now + 1, now + 2, now + day]);
    expect(await pruneSessions(db, now, testContext)).to.equal(false);
  });

  it("keeps reset tokens until they expire", async () => {
    const reset = (expiresAt: number) => ({
      tokenHash: `reset ${String(expiresAt)}`,
      userId,
      createdAt: 0,
      expiresAt,
      usedAt: null,
    });
    await db.write(testContext, (tx) =>
      tx.insertMany(passwordResets, [reset(now - 1), reset(now), reset(now + 1)]),
    );
    expect(await prunePasswordResets(db, now, testContext)).to.equal(false);
    const left = await db.find(passwordResets, "");
    expect(left.map(({ expiresAt }) => expiresAt)).to.deep.equal([now + 1]);
  });

  it("keeps invitations for 30 days after they expire", async () => {
    const organizationId = ids.next("organization", now);
    const made = [1, 0, -1].map((more) => ({
      id: ids.next("invitation", now),
      organizationId,
      email: "b@example.com",
      role: "viewer" as const,
      tokenHash: `invitation ${String(more)}`,
      invitedBy: null,
      createdAt: 0,
      expiresAt: now - 30 * day - more,
      acceptedAt: null,
      revokedAt: null,
    }));
    expect(invitationKeptFor).to.equal(30 * day);
    await db.write(testContext, async (tx) => {
      await tx.insert(organizations, {
        id: organizationId,
        name: "Shop",
        displayName: "Shop",
        isPlatform: false,
        pendingDisplayName: null,
        accentColor: null,
        logo: null,
        pendingLogo: null,
        createdBy: null,
        status: "active",
        verificationStatus: "unverified",
        legalName: null,
        registrationNumber: null,
        country: null,
        address: null,
        website: null,
        contactEmail: null,
        businessDescription: null,
        reviewNote: null,
        kybSubmittedAt: null,
        reviewedAt: null,
        latePayments: "accept",
        lateWindowDays: 7,
        allowedOrigins: [],
        paymentOptions: null,
        version: 1,
        createdAt: 0,
        updatedAt: 0,
      });
      await tx.insertMany(invitations, made);
    });
    expect(await pruneInvitations(db, now, testContext)).to.equal(false);
    const left = await db.find(invitations, "");
    expect(left.map(({ id }) => id)).to.deep.equal([made[2]?.id]);
  });
});

eachServed(
  "the deletion of sessions",
  (served) => {
    const refresh = (refreshToken: string) =>
      served.app.request("POST", "/v1/auth/refresh", { body: { refreshToken } });

    async function forget(): Promise<void> {
      const { db, clock } = served.app.app;
      while (await pruneSessions(db, clock.now(), testContext));
      while (await prunePasswordResets(db, clock.now(), testContext));
    }

    it("still detects a reused token, and ends its family", async () => {
      const { app } = served;
      const person = await register(app);
      const login = await app.request("POST", "/v1/auth/login", {
        body: { email: person.email, password },
      });
      const first = login.body["refreshToken"] as string;
      const second = (await refresh(first)).body["refreshToken"] as string;
      app.clock.advance(refreshTokenLife - day);
      await forget();
      expectProblem(await refresh(first), 401, "invalid_refresh_token");
      expectProblem(await refresh(second), 401, "invalid_refresh_token");
      const seen = ["session.reuse_detected"];
      expect(await countRows(app.app.db, "audit_logs", "WHERE action = $1", seen)).to.equal(1);
      const mine = [person.userId];
      expect(await countRows(app.app.db, "sessions", "WHERE user_id = $1", mine)).to.equal(2);
      app.clock.advance(refreshTokenLife);
      await forget();
      expect(await countRows(app.app.db, "sessions", "WHERE user_id = $1", mine)).to.equal(0);
      expectProblem(await refresh(second), 401, "invalid_refresh_token");
    });

    it("keeps an active session, and no expired reset", async () => {
      const { app } = served;
      const person = await register(app);
      await createPasswordReset(app.app, testContext, { email: person.email });
      const login = await app.request("POST", "/v1/auth/login", {
        body: { email: person.email, password },
      });
      app.clock.advance(refreshTokenLife - day);
      const next = await refresh(login.body["refreshToken"] as string);
      app.clock.advance(Math.max(2 * day, passwordResetLife));
      await forget();
      expect(await countRows(app.app.db, "password_resets")).to.equal(0);
      expect((await refresh(next.body["refreshToken"] as string)).status).to.equal(200);
    });

    it("is scheduled", () => {
      expect(maintenanceSchedule.map(({ name }) => name)).to.include.members([
        "prune sessions",
        "prune password resets",
        "prune invitations",
        "wipe old webhook secrets",
      ]);
    });
  },
  { background: false },
);
