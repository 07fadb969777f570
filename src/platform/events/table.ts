import { integer, json, table, text, time } from "../database/index.ts";

/** The outbox: written with the change it tells of, never changed but for its position. */
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
    /** Dense and in the order of passing on; null until the relay has given it. */
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
    ],
  },
);
