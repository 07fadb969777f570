export { createAccessTokens } from "./sessions/access-tokens.ts";
export { createLoginLock } from "./login-lock.ts";
export { makePasswordService, requireStrong, type PasswordService } from "./passwords.ts";
export { endAllSessions } from "./store.ts";
export { makeAuthService, type AuthService } from "./service.ts";
export { makeSessions } from "./sessions/sessions.ts";
export { makeUserService, type UserService } from "./users.ts";
