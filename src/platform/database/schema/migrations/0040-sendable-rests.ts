import type { Tx } from "../../database.ts";
import type { Migration } from "../migrate.ts";

/** Invoices read per statement. */
const batchRows = 500;
/** The number of amounts that are tried for a rest on a shared address, from the dust on. */
const triedRests = 100n;

/**
 * Rests that can be sent. Invoices of earlier versions that wait for money get the dust of the shipped tokens, 0.01, if
 * at least as much is missing, so that nothing of them becomes paid; the others have no dust. A rest below it is raised to
 * it. Tokens of which an invoice asked for less than 0.01 have a smaller dust, so their invoices stay.
 */
export const migration: Migration = {
  version: 40,
  name: "sendable rests",
  up: () => [],
  async fill(tx) {
    const finer = await finerTokens(tx);
    for (let after = ""; ;) {
      const rows = await nextInvoices(tx, after);
      const last = rows.at(-1);
      if (last === undefined) return;
      for (const row of rows)
        if (!finer.has(`${row.network} ${row.token}`)) await mend(tx, row, finer);
      after = last.id;
    }
  },
};

interface Row {
  readonly id: string;
  readonly status: string;
  readonly network: string;
  readonly token: string;
  readonly decimals: number;
  readonly payable: string;
  readonly seen: string;
  readonly remaining: string;
  readonly addressIndex: number | null;
  /** JSON; null if there is only one option. */
  readonly options: string | null;
}

interface StoredOption {
  readonly network: string;
  readonly tokenSymbol: string;
  readonly quote: { readonly tokenDecimals: number; readonly payableAmount: string } | null;
}

/** Returns the tokens of which some invoice asked for less than 0.01. */
async function finerTokens(tx: Tx): Promise<ReadonlySet<string>> {
  const rows = await tx.all<Pick<Row, "network" | "token" | "decimals"> & { least: string }>(
    `SELECT network, token_symbol AS "token", token_decimals AS "decimals", MIN(payable_amount) AS "least"
     FROM invoices WHERE payable_amount IS NOT NULL AND token_decimals >= 2
     GROUP BY network, token_symbol, token_decimals`,
  );
  const finer = rows.filter(({ decimals, least }) => BigInt(least) < dustOf(decimals));
  return new Set(finer.map(({ network, token }) => `${network} ${token}`));
}

function nextInvoices(tx: Tx, after: string): Promise<Row[]> {
  return tx.all<Row>(
    `SELECT id, status, network, token_symbol AS "token", token_decimals AS "decimals", payable_amount AS "payable",
       seen_amount AS "seen", remaining_amount AS "remaining", address_index AS "addressIndex", payment_options AS "options"
     FROM invoices WHERE id > $1 AND status IN ('open', 'partially_paid', 'expired') AND dust_amount IS NULL
       AND token_decimals >= 2 AND payable_amount IS NOT NULL AND remaining_amount IS NOT NULL
     ORDER BY id LIMIT ${String(batchRows)}`,
    [after],
  );
}

async function mend(tx: Tx, row: Row, finer: ReadonlySet<string>): Promise<void> {
  const [dust, remaining] = [dustOf(row.decimals), BigInt(row.remaining)];
  const missing = BigInt(row.payable) - BigInt(row.seen);
  if (row.status !== "expired" && missing >= dust) {
    const set = "UPDATE invoices SET dust_amount = $2, payment_options = $3 WHERE id = $1";
    await tx.run(set, [row.id, stored(dust), withDust(row.options, finer)]);
  }
  if (remaining === 0n || remaining >= dust) return;
  const isHeld = row.status === "partially_paid" && row.addressIndex === null;
  const rest = isHeld ? await holdRest(tx, row, dust) : dust;
  await tx.run("UPDATE invoices SET remaining_amount = $2 WHERE id = $1", [row.id, stored(rest)]);
}

/** Moves the hold of a rest to the first free amount from the dust on, in steps of 0.0001. */
async function holdRest(tx: Tx, row: Row, dust: bigint): Promise<bigint> {
  const step = row.decimals > 4 ? 10n ** BigInt(row.decimals - 4) : 1n;
  const most = dust + triedRests * step;
  const own = await tx.all<{ id: string; address: string }>(
    `SELECT id, address FROM holds WHERE invoice_id = $1 AND network = $2 AND token = $3 AND amount = $4
       AND kind = 'amount' AND released_at IS NULL`,
    [row.id, row.network, row.token, row.remaining],
  );
  const [hold] = own;
  if (hold === undefined) return dust;
  const held = await tx.all<{ amount: string }>(
    `SELECT amount FROM holds WHERE network = $1 AND address = $2 AND token = $3 AND released_at IS NULL
       AND amount >= $4 AND amount <= $5`,
    [row.network, hold.address, row.token, stored(dust), stored(most)],
  );
  const taken = new Set(held.map(({ amount }) => BigInt(amount)));
  for (let rest = dust + step; rest <= most; rest += step) {
    if (taken.has(rest)) continue;
    await tx.run("UPDATE holds SET amount = $2, least_amount = $2, price = $3 WHERE id = $1", [
      ...[hold.id, stored(rest), stored(dust)],
    ]);
    return rest;
  }
  return dust;
}

/** Returns the options with a dust for each that was chosen, unless its token has a smaller one. */
function withDust(options: string | null, finer: ReadonlySet<string>): string | null {
  if (options === null) return null;
  const offered = JSON.parse(options) as StoredOption[];
  return JSON.stringify(
    offered.map((option) => {
      const { quote, network, tokenSymbol } = option;
      if (quote === null || finer.has(`${network} ${tokenSymbol}`)) return option;
      const dust = dustOf(quote.tokenDecimals);
      if (BigInt(quote.payableAmount) < dust) return option;
      return { ...option, quote: { ...quote, dustAmount: String(dust) } };
    }),
  );
}

function dustOf(decimals: number): bigint {
  return decimals < 2 ? 1n : 10n ** BigInt(decimals - 2);
}

/** Returns an amount as the store has it. */
function stored(amount: bigint): string {
  return amount.toString().padStart(78, "0");
}
