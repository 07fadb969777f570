import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { authOperations, passwordOperations } from "./operations.ts";
import type { PasswordService } from "./passwords.ts";
import { prunePasswordResets, pruneSessions } from "./retention.ts";
import type { AuthService } from "./service.ts";

export const authModule: FeatureModule<{
  readonly auth: AuthService;
  readonly passwordService: PasswordService;
}> = {
  operations: { auth: authOperations, passwordService: passwordOperations },
  prunings: { "prune sessions": pruneSessions, "prune password resets": prunePasswordResets },
};
