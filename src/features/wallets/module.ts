import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { walletChecks } from "./checks.ts";
import { walletOperations } from "./operations.ts";
import type { WalletService } from "./service.ts";

export const walletsModule: FeatureModule<{ readonly wallets: WalletService }> = {
  operations: { wallets: walletOperations },
  checks: walletChecks,
};
