import { commandsOf, pageFlags, type CommandCall } from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { SessionService } from "./sessions.ts";

const command = commandsOf<SessionService>();

export const sessionCommands = [
  command({
    name: "session list",
    summary: "List the logins of dashboard users that are still valid, newest first",
    flags: [
      { flags: "--email <address>", description: "only those of this user", takes: ["email"] },
      ...pageFlags,
    ],
    examples: ["till session list", "till session list --email bo@example.com --json"],
    effect: "read",
    handle: (service, call) =>
      service.list({
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        email: call.flag("email"),
      }),
    async present({ data, nextCursor }) {
      const { presentSession } = await import("./sessions.ts");
      return { data: data.map(presentSession), nextCursor };
    },
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
    async look(service, call) {
      const { presentSession } = await import("./sessions.ts");
      const before = presentSession(await service.find(idOf(call)));
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
    handle: (service, call) => service.end(call.context, idOf(call)),
    async present(view) {
      return (await import("./sessions.ts")).presentSession(view);
    },
    columns: ["id", "email", ["createdAt", "Logged in"], ["revokedAt", "Ended"]],
  }),
];

function idOf(call: CommandCall): Id<"session"> {
  return call.argument("sessionId") as Id<"session">;
}
