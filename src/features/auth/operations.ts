import { anyCredential, publicAccess } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { OrganizationSuspended } from "../../api/declare/problems.ts";
import { PasswordsBusy } from "../../platform/secrets/passwords.ts";
import { InvalidInvitation } from "../members/invitations.ts";
import { EmailUnavailable, UserNeeded } from "../members/members.ts";
import {
  InvalidCredentials,
  InvalidRefreshToken,
  InvalidResetToken,
  LoginLocked,
  RegistrationClosed,
  WeakPassword,
  WrongPassword,
} from "./errors.ts";
import type { PasswordService } from "./passwords.ts";
import { presentSession } from "./present.ts";
import {
  AuthSessionRecord,
  ChangePasswordRequest,
  LoginRequest,
  LogoutRequest,
  RefreshSessionRequest,
  RegisterRequest,
  ResetPasswordRequest,
} from "./records.ts";
import type { AuthService } from "./service.ts";

const operation = operationsOf<AuthService>();
const passwordOperation = operationsOf<PasswordService>();

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
    secretAnswer: true,
    handle: (service, call) => service.register(call.context, call.body),
    present: presentSession,
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
    secretAnswer: true,
    handle: (service, call) => service.login(call.context, call.body),
    present: presentSession,
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
    secretAnswer: true,
    handle: (service, call) => service.refresh(call.context, call.body),
    present: presentSession,
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
    handle: (service, call) => service.logout(call.context, call.body),
    present: () => undefined,
  }),
];

export const passwordOperations = [
  passwordOperation({
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
    handle: (service, call) => service.change(call.context, call.actor, call.body),
    present: () => undefined,
  }),
  passwordOperation({
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
    handle: (service, call) => service.reset(call.context, call.body),
    present: () => undefined,
  }),
];
