import type { Migration } from "../migrate.ts";

/**
 * Each range of blocks has several readings. The ranges that the watcher read earlier count as read once, by an unknown
 * provider; comparisons with a second provider are not kept.
 */
export const migration: Migration = {
  version: 17,
  name: "readings",
  up: (types) => [
    `CREATE TABLE network_readings (
      network ${types.text} NOT NULL,
      from_height ${types.integer} NOT NULL,
      parent_hash ${types.text},
      to_height ${types.integer} NOT NULL,
      to_hash ${types.text} NOT NULL,
      readings ${types.json} NOT NULL,
      opened_at ${types.time} NOT NULL,
      PRIMARY KEY (network, from_height)
    )`,
    `INSERT INTO network_readings
     SELECT network, from_height, parent_hash, to_height, to_hash,
       '[{"provider":"","at":' || CAST(read_at AS TEXT) || '}]', read_at
     FROM network_scans WHERE kind = 'watched'`,
    `DROP TABLE network_scans`,
  ],
};
