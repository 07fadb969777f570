import { anyCredential, publicAccess } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { OrganizationSuspended } from "../../http/declare/problems.ts";
import { PasswordsBusy } from "../../platform/secrets/passwords.ts";
import { InvalidInvitation } from "../members/invitations.ts";
import { EmailUnavailable, UserNeeded } from "../members/members.ts";
import {
  InvalidCredentials,
  InvalidRefreshToken,
  logIn,
  logOut,
  refreshSession,
  RegistrationClosed,
  registerUser,
} from "./login.ts";
import { LoginLocked } from "./login-lock.ts";
import {
  changePassword,
  InvalidResetToken,
  resetPassword,
  WeakPassword,
  WrongPassword,
} from "./passwords.ts";
import {
  AuthSessionRecord,
  ChangePasswordRequest,
  LoginRequest,
  LogoutRequest,
  presentAuthSession,
  RefreshSessionRequest,
  RegisterRequest,
  ResetPasswordRequest,
} from "./records.ts";
import { prunePasswordResets, pruneSessions } from "./retention.ts";

export const authOperations = [
  operation({
    id: "register",
    group: "Auth",
    method: "POST",
    path: "/auth/register",
    summary: "Register a user with a new organization, or join one by invitation",
    description:
      "With an `invitationToken`, the user joins the organization that issued the invitation, and `organizationName` is not required. Without one, the user becomes the owner of a new organization with that name.",
    access: publicAccess,
    request: { body: RegisterRequest },
    response: { status: 201, record: AuthSessionRecord },
    errors: [
      EmailUnavailable,
      InvalidInvitation,
      OrganizationSuspended,
      PasswordsBusy,
      RegistrationClosed,
      WeakPassword,
    ],
    limit: "registration",
    idempotent: false,
    secretResponse: true,
    handle: (app, call) => registerUser(app, call.context, call.body),
    present: presentAuthSession,
  }),
  operation({
    id: "login",
    group: "Auth",
    method: "POST",
    path: "/auth/login",
    summary: "Log in",
    access: publicAccess,
    request: { body: LoginRequest },
    response: { status: 200, record: AuthSessionRecord },
    errors: [InvalidCredentials, LoginLocked, PasswordsBusy],
    limit: "login",
    idempotent: false,
    secretResponse: true,
    handle: (app, call) => logIn(app, call.context, call.body),
    present: presentAuthSession,
  }),
  operation({
    id: "refreshSession",
    group: "Auth",
    method: "POST",
    path: "/auth/refresh",
    summary: "Exchange a refresh token for a new access token",
    description:
      "A refresh token can be used once. If it is sent again within 10 seconds, while its successor is unused, the response has the same successor; after that, reuse ends the session.",
    access: publicAccess,
    request: { body: RefreshSessionRequest },
    response: { status: 200, record: AuthSessionRecord },
    errors: [InvalidRefreshToken],
    limit: "session",
    idempotent: false,
    secretResponse: true,
    handle: (app, call) => refreshSession(app, call.context, call.body),
    present: presentAuthSession,
  }),
  operation({
    id: "logout",
    group: "Auth",
    method: "POST",
    path: "/auth/logout",
    summary: "End the session of a refresh token",
    access: publicAccess,
    request: { body: LogoutRequest },
    response: { status: 204 },
    errors: [],
    limit: "session",
    idempotent: false,
    handle: (app, call) => logOut(app, call.context, call.body),
    present: () => undefined,
  }),
  operation({
    id: "changePassword",
    group: "Auth",
    method: "POST",
    path: "/auth/password",
    summary: "Change your password",
    description: "Ends the user's other sessions.",
    access: anyCredential,
    request: { body: ChangePasswordRequest },
    response: { status: 204 },
    errors: [LoginLocked, PasswordsBusy, UserNeeded, WeakPassword, WrongPassword],
    limit: "login",
    // An idempotency record would contain a fast hash of the password.
    idempotent: false,
    handle: (app, call) => changePassword(app, call.context, call.actor, call.body),
    present: () => undefined,
  }),
  operation({
    id: "resetPassword",
    group: "Auth",
    method: "POST",
    path: "/auth/password/reset",
    summary: "Set a new password with a reset token from the operator",
    description: "The token is valid once, for 24 hours. Ends all sessions of the user.",
    access: publicAccess,
    request: { body: ResetPasswordRequest },
    response: { status: 204 },
    errors: [InvalidResetToken, PasswordsBusy, WeakPassword],
    limit: "login",
    idempotent: false,
    handle: (app, call) => resetPassword(app, call.context, call.body),
    present: () => undefined,
  }),
];

export const authModule: FeatureModule = {
  operations: authOperations,
  prunings: { "prune sessions": pruneSessions, "prune password resets": prunePasswordResets },
};
