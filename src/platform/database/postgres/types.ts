import type { Client, types } from "pg";
import { Defect } from "../../../kernel/errors.ts";

/** Makes results equal to SQLite's: whole numbers as numbers, and selected conditions as 1 or 0. */
export function readAsSqliteDoes(client: Client, builtins: typeof types.builtins): void {
  client.setTypeParser(builtins.INT8, parseInteger);
  client.setTypeParser(builtins.BOOL, (text) => (text === "t" ? 1 : 0));
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Defect(`the integer ${text} is not below 2^53`);
  return value;
}
