import { organization } from "../../api/declare/access.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operation } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { everyMinute } from "../../platform/jobs/cron-line.ts";
import {
  ApiKeyLimit,
  createApiKey,
  ExpiryNotAllowed,
  flushLastUses,
  listApiKeys,
  revokeApiKey,
  ScopeNotAllowed,
} from "./api-keys.ts";
import {
  ApiKeyListRecord,
  ApiKeyRecord,
  CreateApiKeyRequest,
  CreatedApiKeyRecord,
  presentApiKey,
  presentCreatedApiKey,
} from "./records.ts";
import type { ApiKeyRow } from "./store.ts";

export const apiKeyOperations = [
  operation({
    id: "listApiKeys",
    group: "API Keys",
    method: "GET",
    path: "/organizations/{organizationId}/api-keys",
    summary: "List API keys, including revoked ones",
    access: organization("api-keys:read"),
    request: { query: pageParameters },
    response: { status: 200, record: ApiKeyListRecord },
    errors: [],
    handle: (app, call) => listApiKeys(app, call.organizationId, call.query),
    present: (page: Page<ApiKeyRow>) => mapPage(page, presentApiKey),
  }),
  operation({
    id: "createApiKey",
    group: "API Keys",
    method: "POST",
    path: "/organizations/{organizationId}/api-keys",
    summary: "Create an API key and return its secret once",
    description:
      "The scope `billing` allows selecting and changing the plan; only a logged-in owner can grant it. The scope `platform` is for keys of the platform organization; only its logged-in admins can grant it. An API key cannot grant either, even if it has them.",
    access: organization("api-keys:write"),
    request: { body: CreateApiKeyRequest },
    response: { status: 201, record: CreatedApiKeyRecord },
    errors: [ScopeNotAllowed, ExpiryNotAllowed, ApiKeyLimit],
    secretAnswer: true,
    handle: (app, call) => createApiKey(app, call.context, call.organizationId, call.body),
    present: presentCreatedApiKey,
  }),
  operation({
    id: "revokeApiKey",
    group: "API Keys",
    method: "POST",
    path: "/organizations/{organizationId}/api-keys/{apiKeyId}/revoke",
    summary: "Revoke an API key",
    access: organization("api-keys:write"),
    response: { status: 200, record: ApiKeyRecord },
    errors: [],
    handle: (app, call) =>
      revokeApiKey(app, call.context, call.organizationId, call.params.apiKeyId),
    present: presentApiKey,
  }),
];

export const apiKeysModule: FeatureModule = {
  operations: apiKeyOperations,
  workers: (app) => [
    {
      name: "api-key-use",
      lines: [everyMinute],
      async run() {
        await flushLastUses(app, systemContext("api-key-use"));
        return false;
      },
    },
  ],
};
