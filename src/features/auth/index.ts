export { createAccessTokens } from "./access-tokens.ts";
export { createLoginLock } from "./login-lock.ts";
export { authOperations, passwordOperations } from "./operations.ts";
export { makePasswordService, requireStrong, type PasswordService } from "./passwords.ts";
export { prunePasswordResets, pruneSessions } from "./retention.ts";
export { makeAuthService, type AuthService } from "./service.ts";
export { makeSessions } from "./sessions.ts";
export { makeUserService, type UserService } from "./users.ts";
