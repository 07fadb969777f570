import type { Migration } from "../migrate.ts";

/**
 * A scheduled plan change keeps the terms under which it was requested and takes effect at the end of the current
 * period, also in a trial, where it used to wait for the end of the first paid period.
 */
export const migration: Migration = {
  version: 10,
  name: "plan changes",
  up: (types) => [
    `ALTER TABLE subscriptions ADD COLUMN pending_terms ${types.json}`,
    `UPDATE subscriptions SET plan_change_effective_at = current_period_end WHERE pending_plan IS NOT NULL`,
  ],
};
