export { createAccessTokens } from "./access-tokens.ts";
export { createLoginLock } from "./login-lock.ts";
export { authOperations } from "./operations.ts";
export {
  makeAuthService,
  requireStrong,
  type AuthService,
  type RefreshTokenSource,
} from "./service.ts";
export { makeSessions } from "./sessions.ts";
