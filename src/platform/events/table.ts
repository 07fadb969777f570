import { integer, json, table, text, time } from "../database/schema/table.ts";

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
    /**
     * When a payer's later choice replaced the one that the event is about; null for all others. A day later the payload is
     * forgotten: the row, whose payload is empty then, keeps its position.
     */
    supersededAt: time().nullable(),
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
      {
        name: "events_newest_choice",
        columns: ["objectId"],
        where: "type = 'invoice.option_chosen' AND superseded_at IS NULL",
      },
      {
        name: "events_superseded",
        columns: ["supersededAt"],
        where: "superseded_at IS NOT NULL AND payload <> '{}'",
      },
      { name: "events_audit_heads", columns: ["id"], where: "type = 'audit.head'" },
    ],
  },
);

/** SQL for whether the payload of an event was not forgotten. */
export const isRemembered = "(superseded_at IS NULL OR payload <> '{}')";
