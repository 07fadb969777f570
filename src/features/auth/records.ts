import { z } from "zod";
import { roles } from "../../api/declare/permissions.ts";
import {
  datetime,
  email,
  line,
  record,
  requestRecord,
  responseRecord,
} from "../../api/declare/record.ts";
import { MembershipRecord, UserRecord } from "../members/index.ts";

const nameLengthMax = 120;

/** A password in a request; the service enforces the length rules. */
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

function foundsOrJoins(request: unknown): boolean {
  if (typeof request !== "object" || request === null) return true;
  const { organizationName, invitationToken } = request as Readonly<Record<string, unknown>>;
  return organizationName !== undefined || typeof invitationToken === "string";
}

export const RefreshSessionRequest = requestRecord("RefreshSessionRequest", {
  refreshToken: refreshToken(),
});

export const LogoutRequest = requestRecord("LogoutRequest", { refreshToken: refreshToken() });

export const ChangePasswordRequest = requestRecord("ChangePasswordRequest", {
  currentPassword: password(),
  newPassword: password(),
});

export const ResetPasswordRequest = requestRecord("ResetPasswordRequest", {
  resetToken: z.string().min(1).max(200),
  newPassword: password(),
});

export const AuthSessionRecord = responseRecord("AuthSession", {
  tokenType: z.literal("Bearer"),
  accessToken: z.string(),
  accessTokenExpiresAt: datetime(),
  refreshToken: z.string(),
  refreshTokenExpiresAt: datetime(),
  user: UserRecord,
  memberships: z.array(MembershipRecord),
});
