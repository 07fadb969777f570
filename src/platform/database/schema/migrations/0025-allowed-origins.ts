import type { Migration } from "../migrate.ts";

/** The origins of the merchant's own pages, to which payers return and which may embed the checkout. */
export const migration: Migration = {
  version: 25,
  name: "allowed-origins",
  up: (types) => [
    `ALTER TABLE organizations ADD COLUMN allowed_origins ${types.json} NOT NULL DEFAULT '[]'`,
  ],
};
