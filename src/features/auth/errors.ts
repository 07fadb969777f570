import { defineProblem } from "../../kernel/errors.ts";

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
export const InvalidResetToken = defineProblem({
  code: "invalid_reset_token",
  status: 422,
  title: "The reset token is not valid",
  remedy: "Ask the operator for a new token: this one is unknown, used or expired.",
});
export const LoginLocked = defineProblem({
  code: "login_locked",
  status: 429,
  title: "Too many failed logins",
  remedy: "Wait as long as `Retry-After` says, or reset the password.",
});
export const RegistrationClosed = defineProblem({
  code: "registration_closed",
  status: 403,
  title: "Registration is closed",
  remedy: "Ask the operator for an account, or an admin of the organization for an invitation.",
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
