import * as z from "zod";
import { roles } from "../../http/declare/permissions.ts";
import {
  datetime,
  describeFields,
  email,
  line,
  record,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import {
  MembershipRecord,
  presentMembership,
  presentUser,
  UserRecord,
} from "../members/records.ts";
import type { MembershipView, UserView } from "../members/store.ts";

const nameLengthMax = 120;

/** A password in a request; the function enforces the length rules. */
const password = () => z.string().max(1_024, { error: "is too long" });
/**
 * Accepts tokens of any plausible length, so that an access token sent by mistake is an invalid token, not a bad
 * request.
 */
const refreshToken = () => z.string().min(1).max(4_096);

/** Input of `till user create`. No operation takes it, so it has no public name. */
export const CreateUserRequest = z.strictObject({
  email: email(),
  name: line(nameLengthMax),
  role: z.enum(roles).optional(),
});

export const LoginRequest = requestRecord("LoginRequest", {
  email: email(),
  password: password(),
});
describeFields(LoginRequest, {
  email: "The user's e-mail address; case is ignored.",
  password: "The user's password.",
});
export type LoginInput = z.output<typeof LoginRequest>;

export const RegisterRequest = record(
  "RegisterRequest",
  z
    .strictObject({
      email: email(),
      password: password(),
      name: line(nameLengthMax),
      organizationName: line(nameLengthMax).optional().meta({
        description:
          "Name of the organization to create. Required without an `invitationToken`; ignored otherwise.",
      }),
      invitationToken: z.string().min(1).max(200).optional().meta({
        description:
          "Token of an invitation. The user joins the organization that issued it instead of creating a new one.",
      }),
    })
    .refine(foundsOrJoins, {
      path: ["organizationName"],
      params: { code: "required" },
      error: "is required unless an invitationToken is given",
      // Also runs when other fields are invalid, so that one response lists every error.
      when: () => true,
    }),
);
describeFields(RegisterRequest, {
  email: "The user's e-mail address; stored in lower case.",
  password: "The new password. Its length rules are in the refusal `weak_password`.",
  name: "The user's name.",
});
export type RegisterInput = z.output<typeof RegisterRequest>;

function foundsOrJoins(request: unknown): boolean {
  if (typeof request !== "object" || request === null) return true;
  const { organizationName, invitationToken } = request as Readonly<Record<string, unknown>>;
  return organizationName !== undefined || typeof invitationToken === "string";
}

export const RefreshSessionRequest = requestRecord("RefreshSessionRequest", {
  refreshToken: refreshToken(),
});
describeFields(RefreshSessionRequest, {
  refreshToken: "The session's refresh token. It works once: the answer has the next one.",
});
export type RefreshSessionInput = z.output<typeof RefreshSessionRequest>;

export const LogoutRequest = requestRecord("LogoutRequest", { refreshToken: refreshToken() });
describeFields(LogoutRequest, {
  refreshToken: "The refresh token of the session to end.",
});
export type LogoutInput = z.output<typeof LogoutRequest>;

export const ChangePasswordRequest = requestRecord("ChangePasswordRequest", {
  currentPassword: password(),
  newPassword: password(),
});
describeFields(ChangePasswordRequest, {
  currentPassword: "The password that the user has now.",
  newPassword: "The new password.",
});
export type ChangePasswordInput = z.output<typeof ChangePasswordRequest>;

export const ResetPasswordRequest = requestRecord("ResetPasswordRequest", {
  resetToken: z.string().min(1).max(200),
  newPassword: password(),
});
describeFields(ResetPasswordRequest, {
  resetToken: "The token that the operator created for the reset.",
  newPassword: "The new password.",
});
export type ResetPasswordInput = z.output<typeof ResetPasswordRequest>;

export const AuthSessionRecord = responseRecord("AuthSession", {
  tokenType: z.literal("Bearer"),
  accessToken: z.string(),
  accessTokenExpiresAt: datetime(),
  refreshToken: z.string(),
  refreshTokenExpiresAt: datetime(),
  user: UserRecord,
  memberships: z.array(MembershipRecord),
});
describeFields(AuthSessionRecord, {
  tokenType: "Send the access token as `Authorization: Bearer …`.",
  accessToken: "The credential of the session's requests: a JWT.",
  accessTokenExpiresAt: "Time when the access token expires: ISO 8601, UTC.",
  refreshToken: "Exchanges for a new session once; keep it secret.",
  refreshTokenExpiresAt: "Time when the refresh token expires: ISO 8601, UTC.",
  user: "The user who is logged in.",
  memberships: "The user's memberships, one for each organization.",
});

/** A session with its tokens, as a login returns it. */
export interface AuthSession {
  readonly accessToken: string;
  readonly accessTokenExpiresAt: Instant;
  readonly refreshToken: string;
  readonly refreshTokenExpiresAt: Instant;
  readonly user: UserView;
  readonly memberships: readonly MembershipView[];
}

export function presentAuthSession(session: AuthSession): z.input<typeof AuthSessionRecord> {
  return {
    tokenType: "Bearer",
    accessToken: session.accessToken,
    accessTokenExpiresAt: toIso(session.accessTokenExpiresAt),
    refreshToken: session.refreshToken,
    refreshTokenExpiresAt: toIso(session.refreshTokenExpiresAt),
    user: presentUser(session.user),
    memberships: session.memberships.map(presentMembership),
  };
}
