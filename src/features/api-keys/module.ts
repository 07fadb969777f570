import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { everyMinute } from "../../platform/jobs/cron-line.ts";
import { apiKeyOperations } from "./operations.ts";
import type { ApiKeyService } from "./service.ts";

export const apiKeysModule: FeatureModule<{ readonly apiKeys: ApiKeyService }> = {
  operations: { apiKeys: apiKeyOperations },
  workers: ({ apiKeys }) => [
    {
      name: "api-key-use",
      lines: [everyMinute],
      async run() {
        await apiKeys.flushLastUse(systemContext("api-key-use"));
        return false;
      },
    },
  ],
};
