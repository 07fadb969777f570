import type { Migration } from "../migrate.ts";

/** A hold keeps the price that its amount stands for, and an organization gets one warning about a half-full band. */
export const migration: Migration = {
  version: 19,
  name: "half-full bands",
  up: (types) => [
    `ALTER TABLE holds ADD COLUMN price ${types.amount("price")}`,
    `CREATE TABLE half_full_bands (
      network ${types.text} NOT NULL,
      address ${types.text} NOT NULL,
      token ${types.text} NOT NULL,
      price ${types.amount("price")} NOT NULL,
      most ${types.amount("most")} NOT NULL,
      places ${types.integer} NOT NULL,
      organization_id ${types.text} NOT NULL,
      warned_at ${types.time} NOT NULL,
      PRIMARY KEY (network, address, token, price)
    )`,
  ],
};
