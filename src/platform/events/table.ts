import { integer, json, table, text, time } from "../database/index.ts";

/** The outbox. A row is written in the transaction of the change; only its position is updated later. */
export const events = table(
  "events",
  {
    id: text(),
    organizationId: text().nullable(),
    type: text(),
    apiVersion: text(),
    objectType: text(),
    objectId: text(),
    objectVersion: integer(),
    payload: json<Readonly<Record<string, unknown>>>(),
    occurredAt: time(),
    /** Consecutive, in relay order; null until the relay assigns it. */
    position: integer().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "events_unpositioned", columns: ["id"], where: "position IS NULL" },
      {
        name: "events_position",
        columns: ["position"],
        unique: true,
        where: "position IS NOT NULL",
      },
      {
        name: "events_organization",
        columns: ["organizationId", "position"],
        where: "position IS NOT NULL",
      },
      { name: "events_audit_heads", columns: ["id"], where: "type = 'audit.head'" },
    ],
  },
);
