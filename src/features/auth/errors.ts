import { defineProblem } from "../../kernel/errors.ts";

export const InvalidCredentials = defineProblem({
  code: "invalid_credentials",
  status: 401,
  title: "The e-mail address or the password is wrong",
});
export const InvalidRefreshToken = defineProblem({
  code: "invalid_refresh_token",
  status: 401,
  title: "The refresh token is not valid",
});
export const InvalidResetToken = defineProblem({
  code: "invalid_reset_token",
  status: 422,
  title: "The reset token is not valid",
});
export const LoginLocked = defineProblem({
  code: "login_locked",
  status: 429,
  title: "Too many failed logins",
});
export const RegistrationClosed = defineProblem({
  code: "registration_closed",
  status: 403,
  title: "Registration is closed",
});
export const WeakPassword = defineProblem({
  code: "weak_password",
  status: 422,
  title: "The password is too easy to guess",
});
export const WrongPassword = defineProblem({
  code: "wrong_password",
  status: 422,
  title: "The current password is wrong",
});
