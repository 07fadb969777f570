import { z } from "zod";
import { roles } from "../../api/permissions.ts";
import { datetime, email, line, requestRecord, responseRecord } from "../../api/record.ts";
import { MembershipRecord, UserRecord } from "../members/index.ts";

const nameLengthMax = 120;

/** A password as it is sent; how long it must be is the service's to say. */
const password = () => z.string().max(1_024, { error: "is too long" });
/** Long enough that an access token in its place is told to be a bad token, not a bad request. */
const refreshToken = () => z.string().min(1).max(4_096);

/** What the operator makes an account of; no operation takes it, so it has no public name. */
export const CreateUserRequest = z.strictObject({
  email: email(),
  name: line(nameLengthMax),
  role: z.enum(roles).optional(),
});

export const LoginRequest = requestRecord("LoginRequest", {
  email: email(),
  password: password(),
});

export const RegisterRequest = requestRecord("RegisterRequest", {
  email: email(),
  password: password(),
  name: line(nameLengthMax),
  organizationName: line(nameLengthMax).meta({
    description: "Of the new organization; not used with an invitation.",
  }),
  invitationToken: z.string().min(1).max(200).optional().meta({
    description: "The user joins the organization that made it, instead of founding one.",
  }),
});

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
