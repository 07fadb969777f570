import type { Migration } from "../migrate.ts";

/** The time from which servers check the sandbox's providers again, whatever they found before. */
export const migration: Migration = {
  version: 36,
  name: "healed sandbox",
  up: (types) => [
    `ALTER TABLE sandbox_chain ADD COLUMN healed_at ${types.time} NOT NULL DEFAULT 0`,
  ],
};
