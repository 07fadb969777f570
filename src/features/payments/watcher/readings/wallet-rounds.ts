import type { Instant } from "../../../../kernel/clock.ts";
import type { Address } from "../../../../platform/chain/client.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../../../platform/database/schema/table.ts";
import type { Tx } from "../../../../platform/database/database.ts";

/** The progress of the rounds of a network. */
export const walletReadings = table(
  "wallet_readings",
  {
    network: text(),
    /** The height up to which completed rounds have read the blocks of every wallet. */
    throughHeight: integer(),
    /** The same before the present or last round, which is read again if its provider is found to omit transfers. */
    beforeHeight: integer(),
    /**
     * The time of the last block of the round before the present or last one, or of the beginning of that round if it is
     * earlier: wallets that were archived since are read too.
     */
    throughAt: time(),
    /** The time at which the present or last round began. */
    beganAt: time(),
    /** The last block of the present round; `throughHeight` if no round is under way. */
    toHeight: integer(),
    /** The next block of the chunk, and the address up to which the chunks before it reached. */
    nextHeight: integer(),
    afterAddress: text(),
    /** The last address of the chunk; null until it is chosen. */
    untilAddress: text().nullable(),
    /** The number of transfers per address of the chunk that were not recorded. */
    leftOut: json<Readonly<Record<Address, number>>>(),
  },
  { primaryKey: ["network"] },
);

export type Progress = RowOf<typeof walletReadings>;

/** Stores where the first round of a network begins: above the final block from which it is watched. */
export async function beginWalletReading(
  tx: Tx,
  network: string,
  height: number,
  at: Instant,
): Promise<void> {
  await tx.insertIfAbsent(walletReadings, {
    network,
    throughHeight: height,
    beforeHeight: height,
    throughAt: at,
    beganAt: at,
    ...betweenRounds(height),
  });
}

/** Sets the rounds back to a final block after the chain replaced the blocks above it. A round under way starts again. */
export async function lowerWalletReading(tx: Tx, network: string, height: number): Promise<void> {
  const row = await tx.lockOne(walletReadings, "WHERE network = $1", [network]);
  if (row === null || row.toHeight <= height) return;
  const beganAt = row.toHeight > row.throughHeight ? row.throughAt : row.beganAt;
  await setBack(tx, network, Math.min(row.throughHeight, height), beganAt);
}

/**
 * Withdraws the present or last round, so that it is made again at once: a provider omits transfers, and may have been
 * asked. The round was at most a day long, and a provider is probed every few minutes.
 */
export async function withdrawWalletReading(tx: Tx, network: string): Promise<void> {
  const row = await tx.lockOne(walletReadings, "WHERE network = $1", [network]);
  if (row !== null) await setBack(tx, network, row.beforeHeight, row.throughAt);
}

async function setBack(tx: Tx, network: string, height: number, beganAt: Instant): Promise<void> {
  await tx.update(
    walletReadings,
    { throughHeight: height, beforeHeight: height, beganAt, ...betweenRounds(height) },
    "WHERE network = $1",
    [network],
  );
}

/** Returns the progress at a height between two rounds. */
export function betweenRounds(height: number) {
  return {
    toHeight: height,
    nextHeight: height + 1,
    afterAddress: "",
    untilAddress: null,
    leftOut: {},
  };
}
