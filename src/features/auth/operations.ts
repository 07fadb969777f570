import { publicAccess } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { EmailUnavailable } from "../members/index.ts";
import {
  InvalidCredentials,
  InvalidRefreshToken,
  LoginLocked,
  RegistrationClosed,
  WeakPassword,
} from "./errors.ts";
import { presentSession } from "./present.ts";
import {
  AuthSessionRecord,
  LoginRequest,
  LogoutRequest,
  RefreshSessionRequest,
  RegisterRequest,
} from "./records.ts";
import type { AuthService } from "./service.ts";

const operation = operationsOf<AuthService>();

export const authOperations = [
  operation({
    id: "register",
    group: "Auth",
    method: "POST",
    path: "/auth/register",
    summary: "Register a user together with a first organization",
    access: publicAccess,
    request: { body: RegisterRequest },
    response: { status: 201, record: AuthSessionRecord },
    errors: [EmailUnavailable, RegistrationClosed, WeakPassword],
    limit: "registration",
    idempotent: false,
    handle: (service, call) => service.register(call.context, call.body),
    present: presentSession,
  }),
  operation({
    id: "login",
    group: "Auth",
    method: "POST",
    path: "/auth/login",
    summary: "Log a user in",
    access: publicAccess,
    request: { body: LoginRequest },
    response: { status: 200, record: AuthSessionRecord },
    errors: [InvalidCredentials, LoginLocked],
    limit: "login",
    idempotent: false,
    handle: (service, call) => service.login(call.context, call.body),
    present: presentSession,
  }),
  operation({
    id: "refreshSession",
    group: "Auth",
    method: "POST",
    path: "/auth/refresh",
    summary: "Rotate a refresh token and get a new access token",
    description:
      "A token is good once. Sent again within 10 seconds, while its successor is unused, it gives the same successor; later it ends the session.",
    access: publicAccess,
    request: { body: RefreshSessionRequest },
    response: { status: 200, record: AuthSessionRecord },
    errors: [InvalidRefreshToken],
    limit: "session",
    idempotent: false,
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
