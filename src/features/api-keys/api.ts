import { organization, scopes } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { systemContext } from "../../platform/database/database.ts";
import { everyMinute } from "../../platform/jobs/cron-line.ts";
import {
  ApiKeyLimit,
  createApiKey,
  ExpiryNotAllowed,
  flushLastUses,
  getApiKey,
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

const apiKeyOperations = [
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
    cli: {
      name: "key list",
      summary: "List an organization's API keys, newest first, including revoked and expired ones",
      examples: [
        "till key list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till key list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns: ["id", "name", "prefix", "scopes", "lastUsedAt", "expiresAt", "revokedAt"],
    },
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
    secretResponse: true,
    handle: (app, call) => createApiKey(app, call.context, call.organizationId, call.body),
    present: presentCreatedApiKey,
    cli: {
      name: "key create",
      summary: "Create an API key and show its secret once",
      flags: {
        scopes: {
          description: `shop for the program of a shop; or other scopes, separated by commas: ${scopes.join(", ")}`,
          ask: "Scopes (shop for the program of a shop)",
        },
        expiresAt: {
          description: "expiry time, such as 2031-01-31T00:00:00.000Z (default: never)",
        },
      },
      examples: [
        "till key create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name shop --scopes shop",
        "till key create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name reports --scopes read --json",
      ],
      columns: [
        "id",
        "name",
        "scopes",
        { title: "Expires", value: (key) => key.expiresAt ?? "never" },
        "secret",
      ],
      warning: ({ key }) =>
        key.scopes.includes("write")
          ? `this key may do what an admin may, such as register wallets and send refunds. For the program of a shop, replace it: till key create --organization ${key.organizationId} --name shop --scopes shop; then till key revoke ${key.id}`
          : null,
      next: (key) =>
        `store the secret now, it is not shown again. To revoke the key: till key revoke --organization … ${key.id}`,
    },
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
    cli: {
      name: "key revoke",
      summary: "Revoke an API key; requests with it are refused from then on",
      organization: "stated",
      examples: [
        "till key revoke key_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till key revoke key_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
      ],
      async look(app, call) {
        const before = presentApiKey(
          await getApiKey(app, call.argument("apiKeyId") as Id<"apiKey">),
        );
        const state = before.revokedAt === null ? "active" : "revoked";
        return {
          subject: `${before.name} (${before.id}), ${state}`,
          facts: [
            ["Begins with", before.prefix],
            ["Scopes", before.scopes],
            ["Last used", before.lastUsedAt],
          ],
          before,
        };
      },
      confirm: (_call, subject) =>
        `Revoke ${subject}? Programs that use it are refused immediately. This cannot be undone.`,
      columns: ["id", "name", "revokedAt"],
    },
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
