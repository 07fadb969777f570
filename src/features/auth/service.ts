import { bind, type Bound } from "../../kernel/bind.ts";
import type { UserActor } from "../../kernel/actor.ts";
import { day, second, type Clock, type Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Database, Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import type { Passwords } from "../../platform/secrets/passwords.ts";
import {
  lockUser,
  membershipsOfUser,
  userByEmail,
  userView,
  type MembershipView,
  type UserView,
} from "../members/store.ts";
import { redeemInvitation, requireInvitation } from "../members/invitations.ts";
import { addUser } from "../members/members.ts";
import type { InTx } from "../../app.ts";
import { addOrganization } from "../organizations/organizations.ts";
import type { AccessTokens } from "./sessions/access-tokens.ts";
import { InvalidCredentials, InvalidRefreshToken, RegistrationClosed } from "./errors.ts";
import type { LoginLock } from "./login-lock.ts";
import { clientsOf, requireStrong } from "./passwords.ts";
import { userActor } from "./sessions/sessions.ts";
import { lockRefreshToken, lockSession, revokeSession, sessionOfRefreshToken } from "./store.ts";
import { refreshTokens, sessions } from "./table.ts";

/** Lifetime of a refresh token. */
export const refreshTokenLife = 30 * day;
/** How long a used token still returns its successor, in case the first response was lost. */
export const refreshGrace = 10 * second;

export interface AuthSession {
  readonly accessToken: string;
  readonly accessTokenExpiresAt: Instant;
  readonly refreshToken: string;
  readonly refreshTokenExpiresAt: Instant;
  readonly user: UserView;
  readonly memberships: readonly MembershipView[];
}

export interface RefreshTokenSource {
  create(): string;
  /** Derives the token that follows another one: always the same, and only with the server's key. */
  successor(token: string): string;
  hash(token: string): string;
}

export type AuthService = Bound<typeof methods>;

export interface AuthDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly app: InTx;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokenSource;
  readonly passwords: Passwords;
  readonly loginLock: LoginLock;
  readonly registration: "open" | "invite" | "closed";
}

type Identity = Pick<UserView, "id" | "email" | "platformRole">;

const methods = { register, login, refresh, logout };

export function makeAuthService(deps: AuthDependencies): AuthService {
  return bind(deps, methods);
}

/** Creates a user who owns a new organization or, with an invitation, joins the inviting one. */
async function register(
  deps: AuthDependencies,
  context: WriteContext,
  input: {
    readonly email: string;
    readonly password: string;
    readonly name: string;
    /** Required without an invitation and ignored with one. */
    readonly organizationName?: string | undefined;
    readonly invitationToken?: string | undefined;
  },
): Promise<AuthSession> {
  const { db, clock, ids, passwords } = deps;
  const { email, invitationToken } = input;
  requireOpen(deps.registration, invitationToken !== undefined);
  if (invitationToken !== undefined) {
    await requireInvitation(db, clock.now(), invitationToken, email);
  }
  await requireStrong(passwords, input.password, email);
  const passwordHash = await passwords.hash(input.password, clientsOf(context));
  const identity = { id: ids.next("user", clock.now()), email, platformRole: "none" } as const;
  const sessionId = ids.next("session", clock.now());
  const actor = actorOf(identity, sessionId);
  const opened = await db.write({ ...context, actor }, async (tx) => {
    const at = clock.now();
    const user = await addUser(tx, deps.app, at, {
      id: identity.id,
      email,
      name: input.name,
      passwordHash,
    });
    if (invitationToken !== undefined) {
      await redeemInvitation(tx, deps.app, at, invitationToken, user);
    } else {
      const { organizationName: name } = input;
      assert(name !== undefined, "a registration names neither an organization nor an invitation");
      await addOrganization(tx, deps.app, at, { name, ownerId: user.id });
    }
    return open(deps, tx, at, sessionId, identity);
  });
  return answer(deps, db, identity.id, opened);
}

async function login(
  deps: AuthDependencies,
  context: WriteContext,
  input: { readonly email: string; readonly password: string },
): Promise<AuthSession> {
  const { db, clock, ids, passwords } = deps;
  const user = await userByEmail(db, input.email);
  const source = { email: input.email, ip: context.ip };
  const isRight = await deps.loginLock.attempt(source, () =>
    passwords.verify(input.password, user?.passwordHash ?? null, {
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
    return open(deps, tx, clock.now(), sessionId, view);
  });
  return answer(deps, db, user.id, opened);
}

async function refresh(
  deps: AuthDependencies,
  context: WriteContext,
  input: { readonly refreshToken: string },
): Promise<AuthSession> {
  const { db, clock, refreshTokens: tokens } = deps;
  const session = await sessionOfRefreshToken(db, tokens.hash(input.refreshToken));
  if (session === null) throw invalidRefreshToken();
  const { sessionId, userId } = session;
  const rotated = await db.write({ ...context, actor: userActor(session) }, (tx) =>
    rotate(deps, tx, clock.now(), sessionId, input.refreshToken),
  );
  if (rotated === null) throw invalidRefreshToken();
  return answer(deps, db, userId, { sessionId, ...rotated });
}

/** Ends the session of a refresh token; an invalid token is not an error. */
async function logout(
  { db, clock, journal, refreshTokens: tokens }: AuthDependencies,
  context: WriteContext,
  input: { readonly refreshToken: string },
): Promise<void> {
  const session = await sessionOfRefreshToken(db, tokens.hash(input.refreshToken));
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
async function open(
  deps: AuthDependencies,
  tx: Tx,
  at: Instant,
  sessionId: Id<"session">,
  user: Identity,
) {
  const { journal, refreshTokens: tokens } = deps;
  const session = { id: sessionId, userId: user.id, createdAt: at, revokedAt: null };
  await tx.insert(sessions, session);
  journal.record(tx, at, {
    action: "session.opened",
    organizationId: null,
    subjectType: "session",
    subjectId: session.id,
    changes: { userId: user.id },
  });
  const token = tokens.create();
  const refreshTokenExpiresAt = await keepToken(deps, tx, at, session.id, token);
  return { sessionId: session.id, refreshToken: token, refreshTokenExpiresAt };
}

async function keepToken(
  { refreshTokens: tokens }: AuthDependencies,
  tx: Tx,
  at: Instant,
  sessionId: Id<"session">,
  token: string,
) {
  const expiresAt = at + refreshTokenLife;
  await tx.insert(refreshTokens, {
    tokenHash: tokens.hash(token),
    sessionId,
    createdAt: at,
    expiresAt,
    usedAt: null,
  });
  return expiresAt;
}

async function answer(
  deps: AuthDependencies,
  reader: Reader,
  userId: Id<"user">,
  opened: { sessionId: Id<"session">; refreshToken: string; refreshTokenExpiresAt: Instant },
): Promise<AuthSession> {
  const [user, memberships, access] = await Promise.all([
    userView(reader, userId),
    membershipsOfUser(reader, userId),
    deps.accessTokens.issue(userId, opened.sessionId),
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
async function rotate(
  deps: AuthDependencies,
  tx: Tx,
  at: Instant,
  sessionId: Id<"session">,
  token: string,
): Promise<{ refreshToken: string; refreshTokenExpiresAt: Instant } | null> {
  const { journal, refreshTokens: tokens } = deps;
  const tokenHash = tokens.hash(token);
  // Lock order: the session first, so that all tokens of a family are serialized.
  const session = await lockSession(tx, sessionId);
  if (session === null || session.revokedAt !== null) return null;
  const current = await lockRefreshToken(tx, tokenHash);
  if (current === null || current.expiresAt <= at) return null;
  const refreshToken = tokens.successor(token);

  if (current.usedAt === null) {
    await tx.update(refreshTokens, { usedAt: at }, "WHERE token_hash = $1", [tokenHash]);
    const refreshTokenExpiresAt = await keepToken(deps, tx, at, sessionId, refreshToken);
    journal.record(tx, at, {
      action: "session.refreshed",
      organizationId: null,
      subjectType: "session",
      subjectId: sessionId,
    });
    return { refreshToken, refreshTokenExpiresAt };
  }
  const successor = await lockRefreshToken(tx, tokens.hash(refreshToken));
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
