import { perApp, type App, type InTx } from "../../app.ts";
import type { UserActor } from "../../kernel/actor.ts";
import { day, second, type Instant } from "../../kernel/clock.ts";
import { assert, defineProblem } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { hashToken, newToken, refreshSuccessor } from "../../platform/secrets/tokens.ts";
import { redeemInvitation, requireInvitation } from "../members/invitations.ts";
import { addUser } from "../members/members.ts";
import {
  lockUser,
  membershipsOfUser,
  userByEmail,
  userView,
  type UserView,
} from "../members/store.ts";
import { addOrganization } from "../organizations/organizations.ts";
import { issueAccessToken, userActor } from "./authentication.ts";
import { loginLockOf } from "./login-lock.ts";
import { clientsOf, passwordsOf, requireStrong } from "./passwords.ts";
import type {
  AuthSession,
  LoginInput,
  LogoutInput,
  RefreshSessionInput,
  RegisterInput,
} from "./records.ts";
import {
  lockRefreshToken,
  lockSession,
  refreshTokens,
  revokeSession,
  sessionOfRefreshToken,
  sessions,
} from "./store.ts";

export const InvalidCredentials = defineProblem({
  code: "invalid_credentials",
  status: 401,
  title: "The e-mail address or the password is wrong",
  remedy:
    "Check the e-mail address and the password. The response does not say which one is wrong.",
});
export const InvalidRefreshToken = defineProblem({
  code: "invalid_refresh_token",
  status: 401,
  title: "The refresh token is not valid",
  remedy:
    "Log in again: the token is unknown, used, revoked or expired. A refresh token works once.",
});
export const RegistrationClosed = defineProblem({
  code: "registration_closed",
  status: 403,
  title: "Registration is closed",
  remedy: "Ask the operator for an account, or an admin of the organization for an invitation.",
});

/** Lifetime of a refresh token. */
export const refreshTokenLife = 30 * day;
/** How long a used token still returns its successor, in case the first response was lost. */
export const refreshGrace = 10 * second;

/** From which the successors of refresh tokens are derived. */
const refreshKey = perApp((app) => deriveKey(app.secret, "refresh-tokens"));

type Identity = Pick<UserView, "id" | "email" | "platformRole">;

/** Creates a user who owns a new organization or, with an invitation, joins the inviting one. */
export async function registerUser(
  app: App,
  context: WriteContext,
  input: RegisterInput,
): Promise<AuthSession> {
  const { db, clock, ids, config } = app;
  const { email, invitationToken } = input;
  requireOpen(config.registration, invitationToken !== undefined);
  if (invitationToken !== undefined) {
    await requireInvitation(db, clock.now(), invitationToken, email);
  }
  await requireStrong(input.password, email);
  const passwordHash = await passwordsOf(app).hash(input.password, clientsOf(context));
  const identity = { id: ids.next("user", clock.now()), email, platformRole: "none" } as const;
  const sessionId = ids.next("session", clock.now());
  const actor = actorOf(identity, sessionId);
  const opened = await db.write({ ...context, actor }, async (tx) => {
    const at = clock.now();
    const user = await addUser(tx, app, at, {
      id: identity.id,
      email,
      name: input.name,
      passwordHash,
    });
    if (invitationToken !== undefined) {
      await redeemInvitation(tx, app, at, invitationToken, user);
    } else {
      const { organizationName: name } = input;
      assert(name !== undefined, "a registration names neither an organization nor an invitation");
      await addOrganization(tx, app, at, { name, ownerId: user.id });
    }
    return openSession(tx, app, at, sessionId, identity);
  });
  return authSessionOf(app, identity.id, opened);
}

/** Opens a session for a user who knows the password. @throws InvalidCredentials, LoginLocked */
export async function logIn(
  app: App,
  context: WriteContext,
  input: LoginInput,
): Promise<AuthSession> {
  const { db, clock, ids } = app;
  const user = await userByEmail(db, input.email);
  const source = { email: input.email, ip: context.ip };
  const isRight = await loginLockOf(app).attempt(source, () =>
    passwordsOf(app).verify(input.password, user?.passwordHash ?? null, {
      account: input.email,
      clients: clientsOf(context),
    }),
  );
  if (user === null || !isRight) throw invalidCredentials();
  const view = await userView(db, user.id);
  assert(view !== null, "a user vanished during login");
  const sessionId = ids.next("session", clock.now());
  const opened = await db.write({ ...context, actor: actorOf(view, sessionId) }, async (tx) => {
    // If the password was changed in the meantime, this login is refused.
    const current = await lockUser(tx, user.id);
    if (current?.passwordHash !== user.passwordHash) throw invalidCredentials();
    return openSession(tx, app, clock.now(), sessionId, view);
  });
  return authSessionOf(app, user.id, opened);
}

/** Exchanges a refresh token for the next one and a new access token. @throws InvalidRefreshToken */
export async function refreshSession(
  app: App,
  context: WriteContext,
  input: RefreshSessionInput,
): Promise<AuthSession> {
  const { db, clock } = app;
  const session = await sessionOfRefreshToken(db, hashToken(input.refreshToken));
  if (session === null) throw invalidRefreshToken();
  const { sessionId, userId } = session;
  const rotated = await db.write({ ...context, actor: userActor(session) }, (tx) =>
    rotateToken(tx, app, clock.now(), sessionId, input.refreshToken),
  );
  if (rotated === null) throw invalidRefreshToken();
  return authSessionOf(app, userId, { sessionId, ...rotated });
}

/** Ends the session of a refresh token; an invalid token is not an error. */
export async function logOut(app: App, context: WriteContext, input: LogoutInput): Promise<void> {
  const { db, clock, journal } = app;
  const session = await sessionOfRefreshToken(db, hashToken(input.refreshToken));
  if (session === null) return;
  await db.write({ ...context, actor: userActor(session) }, async (tx) => {
    const at = clock.now();
    if (!(await revokeSession(tx, session.sessionId, at))) return;
    journal.record(tx, at, {
      action: "session.revoked",
      organizationId: null,
      subjectType: "session",
      subjectId: session.sessionId,
    });
  });
}

/** Opens a session for a user, in the transaction that authenticated them. */
async function openSession(
  tx: Tx,
  app: InTx,
  at: Instant,
  sessionId: Id<"session">,
  user: Identity,
) {
  const session = { id: sessionId, userId: user.id, createdAt: at, revokedAt: null };
  await tx.insert(sessions, session);
  app.journal.record(tx, at, {
    action: "session.opened",
    organizationId: null,
    subjectType: "session",
    subjectId: session.id,
    changes: { userId: user.id },
  });
  const token = newToken("refresh", app.randomBytes);
  const refreshTokenExpiresAt = await storeToken(tx, at, session.id, token);
  return { sessionId: session.id, refreshToken: token, refreshTokenExpiresAt };
}

async function storeToken(tx: Tx, at: Instant, sessionId: Id<"session">, token: string) {
  const expiresAt = at + refreshTokenLife;
  await tx.insert(refreshTokens, {
    tokenHash: hashToken(token),
    sessionId,
    createdAt: at,
    expiresAt,
    usedAt: null,
  });
  return expiresAt;
}

async function authSessionOf(
  app: App,
  userId: Id<"user">,
  opened: { sessionId: Id<"session">; refreshToken: string; refreshTokenExpiresAt: Instant },
): Promise<AuthSession> {
  const [user, memberships, access] = await Promise.all([
    userView(app.db, userId),
    membershipsOfUser(app.db, userId),
    issueAccessToken(app, userId, opened.sessionId),
  ]);
  assert(user !== null, "a session without a user was opened");
  return {
    accessToken: access.accessToken,
    accessTokenExpiresAt: access.expiresAt,
    refreshToken: opened.refreshToken,
    refreshTokenExpiresAt: opened.refreshTokenExpiresAt,
    user,
    memberships,
  };
}

/**
 * Rotates a refresh token (OAuth 2.1). Within the grace period, and while the successor is unused, it returns the same
 * successor again, because the first response may have been lost. Any other second use means that two parties hold the
 * token, and revokes the family. Returns null if the token is invalid; a revocation is committed nevertheless.
 */
async function rotateToken(
  tx: Tx,
  app: InTx,
  at: Instant,
  sessionId: Id<"session">,
  token: string,
): Promise<{ refreshToken: string; refreshTokenExpiresAt: Instant } | null> {
  const { journal } = app;
  const tokenHash = hashToken(token);
  // Lock order: the session first, so that all tokens of a family are serialized.
  const session = await lockSession(tx, sessionId);
  if (session === null || session.revokedAt !== null) return null;
  const current = await lockRefreshToken(tx, tokenHash);
  if (current === null || current.expiresAt <= at) return null;
  const refreshToken = refreshSuccessor(refreshKey(app), token);

  if (current.usedAt === null) {
    await tx.update(refreshTokens, { usedAt: at }, "WHERE token_hash = $1", [tokenHash]);
    const refreshTokenExpiresAt = await storeToken(tx, at, sessionId, refreshToken);
    journal.record(tx, at, {
      action: "session.refreshed",
      organizationId: null,
      subjectType: "session",
      subjectId: sessionId,
    });
    return { refreshToken, refreshTokenExpiresAt };
  }
  const successor = await lockRefreshToken(tx, hashToken(refreshToken));
  const isRepeat = at - current.usedAt <= refreshGrace && successor?.usedAt === null;
  if (isRepeat) return { refreshToken, refreshTokenExpiresAt: successor.expiresAt };
  await revokeSession(tx, sessionId, at);
  journal.record(tx, at, {
    action: "session.reuse_detected",
    organizationId: null,
    subjectType: "session",
    subjectId: sessionId,
    changes: { userId: session.userId },
  });
  return null;
}

function actorOf(user: Identity, sessionId: Id<"session">): UserActor {
  return {
    type: "user",
    id: user.id,
    label: user.email,
    sessionId,
    platformRole: user.platformRole,
  };
}

function invalidRefreshToken(): InstanceType<typeof InvalidRefreshToken> {
  return new InvalidRefreshToken(
    "Log in again: this refresh token is unknown, used, revoked or expired.",
  );
}

function invalidCredentials(): InstanceType<typeof InvalidCredentials> {
  return new InvalidCredentials("Check the e-mail address and the password, then try again.");
}

function requireOpen(registration: "open" | "invite" | "closed", isInvited: boolean): void {
  if (registration === "open" || (registration === "invite" && isInvited)) return;
  throw new RegistrationClosed(
    registration === "closed"
      ? "Ask the operator of this instance for an account."
      : "Ask an admin of the organization for an invitation, and register with its token.",
  );
}
