import { roles, type Role } from "../../http/declare/permissions.ts";
import {
  command,
  statedOrganization,
  pageFlags,
  type CommandCall,
} from "../../http/declare/command.ts";
import { toIso } from "../../kernel/clock.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage } from "../../kernel/page.ts";
import { presentUser } from "../members/records.ts";
import { createPasswordReset, getAccount } from "./passwords.ts";
import { CreateUserRequest } from "./records.ts";
import { endSession, getSession, listSessions, presentSession } from "./sessions.ts";
import { createUser, listUsers } from "./users.ts";

export const userCommands = [
  command({
    name: "user list",
    summary: "List dashboard users, newest first",
    flags: pageFlags,
    examples: ["till user list", "till user list --limit 100 --json"],
    effect: "read",
    handle: (app, call) =>
      listUsers(app, { limit: call.flag("limit"), cursor: call.flag("cursor") }),
    present: (page) => mapPage(page, presentUser),
    columns: ["id", "email", "name", "platformRole", "createdAt"],
  }),
  command({
    name: "user create",
    summary: "Create a user account, optionally as a member of an organization",
    flags: [
      {
        flags: "--email <address>",
        description: "e-mail address for login",
        ask: "E-mail address",
      },
      { flags: "--name <text>", description: "full name", ask: "Name" },
      statedOrganization,
      {
        flags: "--role <role>",
        choices: roles,
        description: "role in that organization: viewer, member, admin or owner (default member)",
      },
    ],
    password: "Password of the new user",
    examples: [
      "till user create --email bo@example.com --name Bo --password-stdin < password",
      "till user create --email bo@example.com --name Bo --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --role admin",
    ],
    effect: "write",
    confirm: (call, subject) =>
      call.flag("organization") === undefined
        ? null
        : `Make ${call.flag("email") ?? ""} a member of ${subject} with the role ${call.flag("role") ?? defaultRole}?`,
    handle(app, call) {
      const { role, ...input } = call.parse(CreateUserRequest, {
        email: call.flag("email"),
        name: call.flag("name"),
        role: call.flag("role"),
      });
      const organizationId = call.flag("organization") as Id<"organization"> | undefined;
      if (organizationId === undefined && role !== undefined) {
        throw invalidField("/role", "no_organization", "requires --organization");
      }
      return createUser(app, call.context, {
        ...input,
        password: call.password(),
        membership:
          organizationId === undefined ? null : { organizationId, role: role ?? defaultRole },
      });
    },
    present: presentUser,
    look: (_app, call) => ({
      subject: call.flag("organization") === undefined ? "A new user" : call.organization(),
      changes: ({ email }) =>
        call.flag("organization") === undefined
          ? [["Account", null, email]]
          : [
              ["Account", null, email],
              ["Role", null, call.flag("role") ?? defaultRole],
            ],
    }),
    columns: ["id", "email", "name", "platformRole"],
  }),
  command({
    name: "user reset-password",
    summary: "Create a token for setting a new password, and show it once",
    arguments: [{ name: "email", description: "e-mail address of the account", takes: ["email"] }],
    examples: [
      "till user reset-password bo@example.com",
      "till user reset-password bo@example.com --yes --json",
    ],
    effect: "write-without-trial",
    async look(app, call) {
      const { id, email, name } = await getAccount(app, call.argument("email"));
      return { subject: `${name} (${id}), ${email}` };
    },
    confirm: (_call, subject) =>
      `Create a token for ${subject}? Anyone who has it can set a new password, once, within a day.`,
    handle: (app, call) =>
      createPasswordReset(app, call.context, { email: call.argument("email") }),
    present: ({ userId, email, token, expiresAt }) => ({
      userId,
      email,
      resetToken: token,
      expiresAt: toIso(expiresAt),
    }),
    columns: ["userId", "email", "resetToken", "expiresAt"],
    identify: (reset) => reset.resetToken,
    next: () => "give the token to the user, who sends it to POST /v1/auth/password/reset",
  }),
  command({
    name: "session list",
    summary: "List the logins of dashboard users that are still valid, newest first",
    flags: [
      { flags: "--email <address>", description: "only those of this user", takes: ["email"] },
      ...pageFlags,
    ],
    examples: ["till session list", "till session list --email bo@example.com --json"],
    effect: "read",
    handle: (app, call) =>
      listSessions(app, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        email: call.flag("email"),
      }),
    present: (page) => mapPage(page, presentSession),
    columns: ["id", "email", ["createdAt", "Logged in"], "lastUsedAt", "expiresAt"],
  }),
  command({
    name: "session end",
    summary: "End a login: the user must log in again",
    arguments: [{ name: "sessionId", description: "such as ses_01h…" }],
    examples: [
      "till session end ses_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till session end ses_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    async look(app, call) {
      const before = presentSession(await getSession(app, sessionIdOf(call)));
      const state = before.revokedAt === null ? "active" : "ended";
      return {
        subject: `the login of ${before.email} (${before.id}), ${state}`,
        facts: [
          ["Since", before.createdAt],
          ["Last used", before.lastUsedAt],
        ],
        before,
      };
    },
    confirm: (_call, subject) => `End ${subject}? The next request is refused.`,
    handle: (app, call) => endSession(app, call.context, sessionIdOf(call)),
    present: presentSession,
    columns: ["id", "email", ["createdAt", "Logged in"], ["revokedAt", "Ended"]],
  }),
];

const defaultRole: Role = "member";

function sessionIdOf(call: CommandCall): Id<"session"> {
  return call.argument("sessionId") as Id<"session">;
}
