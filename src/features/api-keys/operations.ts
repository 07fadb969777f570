import { organization } from "../../api/declare/access.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { ApiKeyLimit, ExpiryNotAllowed, ScopeNotAllowed } from "./errors.ts";
import { presentApiKey, presentCreatedApiKey } from "./present.ts";
import {
  ApiKeyListRecord,
  ApiKeyRecord,
  CreateApiKeyRequest,
  CreatedApiKeyRecord,
} from "./records.ts";
import type { ApiKeyService } from "./service.ts";
import type { ApiKeyRow } from "./table.ts";

const operation = operationsOf<ApiKeyService>();

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
    handle: (service, call) => service.list(call.organizationId, call.query),
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
    handle: (service, call) => {
      const { expiresAt, ...input } = call.body;
      const asked = {
        ...input,
        expiresAt: typeof expiresAt === "string" ? Date.parse(expiresAt) : null,
      };
      return service.create(call.context, call.organizationId, asked);
    },
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
    handle: (service, call) =>
      service.revoke(call.context, call.organizationId, call.params.apiKeyId),
    present: presentApiKey,
  }),
];
