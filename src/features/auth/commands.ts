import { roles } from "../../api/declare/permissions.ts";
import { commandsOf, statedOrganization, pageFlags } from "../../api/declare/command.ts";
import type { Role } from "../../api/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import type { UserView } from "../members/store.ts";
import type { PasswordService } from "./passwords.ts";
import type { UserService } from "./users.ts";

const command = commandsOf<UserService>();

export const userCommands = [
  command({
    name: "user list",
    summary: "List dashboard users, newest first",
    flags: pageFlags,
    examples: ["till user list", "till user list --limit 100 --json"],
    effect: "read",
    handle: (service, call) =>
      service.list({ limit: call.flag("limit"), cursor: call.flag("cursor") }),
    async present({ data, nextCursor }) {
      const { presentUser } = await import("../members/records.ts");
      return { data: data.map(presentUser), nextCursor };
    },
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
    async handle(service, call) {
      const { CreateUserRequest } = await import("./records.ts");
      const { role, ...input } = call.parse(CreateUserRequest, {
        email: call.flag("email"),
        name: call.flag("name"),
        role: call.flag("role"),
      });
      const organizationId = call.flag("organization") as Id<"organization"> | undefined;
      if (organizationId === undefined && role !== undefined) await refuseRole();
      return service.create(call.context, {
        ...input,
        password: call.password(),
        membership:
          organizationId === undefined ? null : { organizationId, role: role ?? defaultRole },
      });
    },
    async present(user: UserView) {
      return (await import("../members/records.ts")).presentUser(user);
    },
    look: (_service, call) => ({
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
];

const passwordCommand = commandsOf<PasswordService>();

export const passwordCommands = [
  passwordCommand({
    name: "user reset-password",
    summary: "Create a token for setting a new password, and show it once",
    arguments: [{ name: "email", description: "e-mail address of the account", takes: ["email"] }],
    examples: [
      "till user reset-password bo@example.com",
      "till user reset-password bo@example.com --yes --json",
    ],
    effect: "write-without-trial",
    async look(service, call) {
      const { id, email, name } = await service.accountOf(call.argument("email"));
      return { subject: `${name} (${id}), ${email}` };
    },
    confirm: (_call, subject) =>
      `Create a token for ${subject}? Anyone who has it can set a new password, once, within a day.`,
    handle: (service, call) => service.createReset(call.context, { email: call.argument("email") }),
    async present({ userId, email, token, expiresAt }) {
      const { toIso } = await import("../../kernel/clock.ts");
      return { userId, email, resetToken: token, expiresAt: toIso(expiresAt) };
    },
    columns: ["userId", "email", "resetToken", "expiresAt"],
    identify: (reset) => reset.resetToken,
    next: () => "give the token to the user, who sends it to POST /v1/auth/password/reset",
  }),
];

const defaultRole: Role = "member";

async function refuseRole(): Promise<never> {
  const { invalidField } = await import("../../kernel/errors.ts");
  throw invalidField("/role", "no_organization", "requires --organization");
}
