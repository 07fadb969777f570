import type { App } from "../../app.ts";
import {
  commandsOf,
  neededOrganization,
  statedOrganization,
  pageFlags,
  type CommandCall,
} from "../../api/declare/command.ts";
import { scopes } from "../../api/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage } from "../../kernel/page.ts";
import { createApiKey, getApiKey, listApiKeys, revokeApiKey } from "./api-keys.ts";
import { CreateApiKeyRequest, presentApiKey, presentCreatedApiKey } from "./records.ts";

const command = commandsOf<App>();

export const apiKeyCommands = [
  command({
    name: "key list",
    summary: "List an organization's API keys, newest first, including revoked and expired ones",
    flags: [neededOrganization, ...pageFlags],
    examples: [
      "till key list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till key list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) =>
      listApiKeys(app, call.flag("organization") as Id<"organization">, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
      }),
    present: (page) => mapPage(page, presentApiKey),
    columns: ["id", "name", "prefix", "scopes", "lastUsedAt", "expiresAt", "revokedAt"],
  }),
  command({
    name: "key create",
    summary: "Create an API key and show its secret once",
    flags: [
      neededOrganization,
      { flags: "--name <text>", description: "name of the key", ask: "Name of the key" },
      {
        flags: "--scopes <list>",
        description: `shop for the program of a shop; or other scopes, separated by commas: ${scopes.join(", ")}`,
        choices: scopes,
        isList: true,
        ask: "Scopes (shop for the program of a shop)",
      },
      {
        flags: "--expires-at <time>",
        description: "expiry time, such as 2031-01-31T00:00:00.000Z (default: never)",
      },
    ],
    examples: [
      "till key create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name shop --scopes shop",
      "till key create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name reports --scopes read --json",
    ],
    effect: "write-without-trial",
    handle(app, call) {
      const input = call.parse(CreateApiKeyRequest, {
        name: call.flag("name"),
        scopes: call
          .flag("scopes")
          ?.split(",")
          .map((scope) => scope.trim()),
        expiresAt: call.flag("expires-at"),
      });
      const organizationId = call.flag("organization") as Id<"organization">;
      return createApiKey(app, call.context, organizationId, input);
    },
    present: presentCreatedApiKey,
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
  }),
  command({
    name: "key revoke",
    summary: "Revoke an API key; requests with it are refused from then on",
    arguments: [{ name: "apiKeyId", description: "such as key_01h…" }],
    flags: [statedOrganization],
    examples: [
      "till key revoke key_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till key revoke key_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    async look(app, call) {
      const before = presentApiKey(await getApiKey(app, idOf(call)));
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
    async handle(app, call) {
      const given = call.flag("organization") as Id<"organization"> | undefined;
      const organizationId = given ?? (await getApiKey(app, idOf(call))).organizationId;
      return revokeApiKey(app, call.context, organizationId, idOf(call));
    },
    present: presentApiKey,
    columns: ["id", "name", "revokedAt"],
  }),
];

function idOf(call: CommandCall): Id<"apiKey"> {
  return call.argument("apiKeyId") as Id<"apiKey">;
}
