import type { Migration } from "../migrate.ts";

/** The figures of analytics and usage: sums by hour and day, and the changes that are not added to them yet. */
export const migration: Migration = {
  version: 8,
  name: "figures",
  up: (types) => [
    `CREATE TABLE figure_changes (
      organization_id ${types.text} NOT NULL,
      id ${types.text} NOT NULL,
      measure ${types.text} NOT NULL,
      happened_at ${types.time} NOT NULL,
      currency ${types.text} NOT NULL,
      subject ${types.text} NOT NULL,
      sign ${types.integer} NOT NULL CHECK (sign IN (1, -1)),
      amount ${types.amount("amount")} NOT NULL,
      PRIMARY KEY (organization_id, id)
    )`,
    `CREATE TABLE figures (
      organization_id ${types.text} NOT NULL,
      measure ${types.text} NOT NULL,
      grain ${types.text} NOT NULL CHECK (grain IN ('hour', 'day')),
      starts_at ${types.time} NOT NULL,
      currency ${types.text} NOT NULL,
      subject ${types.text} NOT NULL,
      items ${types.integer} NOT NULL,
      sign ${types.integer} NOT NULL CHECK (sign IN (1, -1)),
      amount ${types.amount("amount")} NOT NULL,
      PRIMARY KEY (organization_id, measure, grain, starts_at, currency, subject)
    )`,
  ],
};
