import { perApp, type App, type InTx } from "../../app.ts";
import { addressGroups } from "../../http/client-address.ts";
import type { Principal } from "../../http/declare/permissions.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import { assert, defineProblem, NotFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import { createPasswords, passwordFault } from "../../platform/secrets/passwords.ts";
import { hashToken, newToken, parseToken } from "../../platform/secrets/tokens.ts";
import { UserNeeded } from "../members/members.ts";
import {
  changePasswordHash,
  lockUser,
  userByEmail,
  userView,
  type UserView,
} from "../members/store.ts";
import { loginLockOf } from "./login-lock.ts";
import type { ChangePasswordInput, ResetPasswordInput } from "./records.ts";
import { endResetsOf, passwordResets, revokeSessionsOf } from "./store.ts";

export const InvalidResetToken = defineProblem({
  code: "invalid_reset_token",
  status: 422,
  title: "The reset token is not valid",
  remedy: "Ask the operator for a new token: this one is unknown, used or expired.",
});
export const WeakPassword = defineProblem({
  code: "weak_password",
  status: 422,
  title: "The password is too easy to guess",
  remedy:
    "Choose a longer password that is not a common one and does not contain the e-mail address.",
});
export const WrongPassword = defineProblem({
  code: "wrong_password",
  status: 422,
  title: "The current password is wrong",
  remedy: "Send the current password in `currentPassword`.",
});

/** Returns the ranges of addresses of a request, by which password checks take turns. */
export function clientsOf({ ip }: Pick<WriteContext, "ip">): readonly string[] {
  return ip === null ? [] : addressGroups(ip);
}

/** Lifetime of a password reset token. */
export const passwordResetLife = 1 * day;

interface PasswordReset {
  readonly userId: Id<"user">;
  readonly email: string;
  /** The token, returned only once. */
  readonly token: string;
  readonly expiresAt: Instant;
}

/** Returns the hashing of passwords of this process, which limits how many run at once. */
export const passwordsOf = perApp((app) => createPasswords(undefined, app.passwordCost));

/** Sets a new password for a user who knows the current one, and ends the user's other sessions. */
export async function changePassword(
  app: App,
  context: WriteContext,
  actor: Principal,
  input: ChangePasswordInput,
): Promise<void> {
  const { db, clock } = app;
  const passwords = passwordsOf(app);
  if (actor.type !== "user") {
    throw new UserNeeded(
      "An API key has no password. Log in as a user. To disable a key, revoke it.",
    );
  }
  await requireStrong(input.newPassword, actor.label, "/newPassword");
  // The login lock applies, so that someone with an open session cannot guess the password.
  const user = await userView(db, actor.id);
  assert(user !== null, "a session names a user who is not there");
  const isRight = await loginLockOf(app).attempt({ email: actor.label, ip: context.ip }, () =>
    passwords.verify(input.currentPassword, user.passwordHash, {
      account: actor.label,
      clients: clientsOf(context),
    }),
  );
  if (!isRight) throw wrongPassword();
  const passwordHash = await passwords.hash(input.newPassword, clientsOf(context));
  await db.write(context, async (tx) => {
    const at = clock.now();
    const current = await lockUser(tx, actor.id);
    if (current?.passwordHash !== user.passwordHash) throw wrongPassword();
    await changePasswordHash(tx, actor.id, passwordHash);
    await revokeSessionsOf(tx, actor.id, at, actor.sessionId);
    await endResetsOf(tx, actor.id, at);
    recordPassword(tx, app, at, "user.password_changed", actor.id);
  });
}

/** Returns the account with an e-mail address, for the operator; 404 if the address is unknown. */
export function getAccount(
  app: App,
  email: string,
): Promise<Pick<UserView, "id" | "name" | "email">> {
  return requireAccount(app.db, email);
}

async function requireAccount(
  reader: Reader,
  email: string,
): Promise<Pick<UserView, "id" | "name" | "email">> {
  const user = await userByEmail(reader, email.toLowerCase());
  if (user === null) {
    throw new NotFound("No account has this e-mail address. Check the spelling.");
  }
  return user;
}

/** Creates a single-use reset token on behalf of the operator. Earlier tokens become invalid. */
export function createPasswordReset(
  app: App,
  context: WriteContext,
  { email }: { readonly email: string },
): Promise<PasswordReset> {
  const { db, clock } = app;
  const token = newToken("passwordReset", app.randomBytes);
  return db.write(context, async (tx) => {
    const at = clock.now();
    const user = await requireAccount(tx, email);
    await lockUser(tx, user.id);
    await endResetsOf(tx, user.id, at);
    const expiresAt = at + passwordResetLife;
    await tx.insert(passwordResets, {
      tokenHash: hashToken(token),
      userId: user.id,
      createdAt: at,
      expiresAt,
      usedAt: null,
    });
    recordPassword(tx, app, at, "user.password_reset_created", user.id);
    return { userId: user.id, email: user.email, token, expiresAt };
  });
}

/** Sets a new password with a reset token, and ends all sessions of the user. */
export async function resetPassword(
  app: App,
  context: WriteContext,
  input: ResetPasswordInput,
): Promise<void> {
  const { db, clock } = app;
  const { resetToken } = input;
  if (parseToken(resetToken, "passwordReset") === null) throw invalidResetToken();
  const tokenHash = hashToken(resetToken);
  const given = await db.findOne(passwordResets, "WHERE token_hash = $1", [tokenHash]);
  if (given === null || !isUsable(given, clock.now())) throw invalidResetToken();
  const owner = await userView(db, given.userId);
  await requireStrong(input.newPassword, owner?.email, "/newPassword");
  const passwordHash = await passwordsOf(app).hash(input.newPassword, clientsOf(context));
  const user = await db.write(context, async (tx) => {
    const at = clock.now();
    // Lock order: the user before the token, as in every password change.
    const locked = await lockUser(tx, given.userId);
    const current = await tx.lockOne(passwordResets, "WHERE token_hash = $1", [tokenHash]);
    if (current === null || !isUsable(current, at)) throw invalidResetToken();
    assert(locked !== null, "a reset names a user who is not there");
    await changePasswordHash(tx, locked.id, passwordHash);
    await revokeSessionsOf(tx, locked.id, at, null);
    await endResetsOf(tx, locked.id, at);
    recordPassword(tx, app, at, "user.password_reset", locked.id);
    return locked;
  });
  loginLockOf(app).forget({ email: user.email, ip: context.ip });
}

/** Whether a reset was not used yet and has not expired. */
export function isUsable(
  { usedAt, expiresAt }: Pick<RowOf<typeof passwordResets>, "usedAt" | "expiresAt">,
  at: Instant,
): boolean {
  return usedAt === null && at < expiresAt;
}

function recordPassword(tx: Tx, app: InTx, at: Instant, action: string, userId: Id<"user">): void {
  app.journal.record(tx, at, {
    action,
    organizationId: null,
    subjectType: "user",
    subjectId: userId,
  });
}

/** Refuses a password that is too short, too long, very common or the e-mail address; `pointer` names its field. */
export async function requireStrong(
  password: string,
  email?: string,
  pointer = "/password",
): Promise<void> {
  const fault = await passwordFault(password, email);
  if (fault === null) return;
  throw new WeakPassword(`The password ${fault.message}. Choose another.`, {
    errors: [{ pointer, ...fault }],
  });
}

function wrongPassword(): InstanceType<typeof WrongPassword> {
  return new WrongPassword("Check the current password, then try again.", {
    errors: [{ pointer: "/currentPassword", code: "wrong", message: "is not the password" }],
  });
}

function invalidResetToken(): InstanceType<typeof InvalidResetToken> {
  const message = "is unknown, used or expired";
  return new InvalidResetToken(`The token ${message}. Ask the operator for a new one.`, {
    errors: [{ pointer: "/resetToken", code: "invalid", message }],
  });
}
