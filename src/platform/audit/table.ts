import type { Actor } from "../../kernel/actor.ts";
import { integer, json, table, text, time } from "../database/schema/table.ts";

/** The audit log: who changed what. An entry is written with the change, and never changed except by sealing. */
export const auditLogs = table(
  "audit_logs",
  {
    id: text(),
    /** Null for an entry about a user alone. */
    organizationId: text().nullable(),
    actorType: text<Actor["type"]>(),
    actorId: text().nullable(),
    actorLabel: text(),
    action: text(),
    targetType: text(),
    targetId: text(),
    ip: text().nullable(),
    requestId: text().nullable(),
    changes: json<Readonly<Record<string, unknown>>>(),
    /** The position in the chain, without gaps; null until sealed. */
    position: integer().nullable(),
    /** The seal over this entry and the previous hash; null until sealed. */
    hash: text().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "audit_logs_organization", columns: ["organizationId", "id"] },
      { name: "audit_logs_action", columns: ["organizationId", "action", "id"] },
      { name: "audit_logs_actor", columns: ["organizationId", "actorId", "id"] },
      {
        name: "audit_logs_actor_action",
        columns: ["organizationId", "actorId", "action", "id"],
        where: "actor_id IS NOT NULL",
      },
      { name: "audit_logs_platform_action", columns: ["action", "id"] },
      { name: "audit_logs_platform_actor", columns: ["actorId", "id"] },
      {
        name: "audit_logs_platform_actor_action",
        columns: ["actorId", "action", "id"],
        where: "actor_id IS NOT NULL",
      },
      { name: "audit_logs_unsealed", columns: ["id"], where: "position IS NULL" },
      {
        name: "audit_logs_position",
        columns: ["position"],
        unique: true,
        where: "position IS NOT NULL",
      },
    ],
  },
);
