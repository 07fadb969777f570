import { createHash } from "node:crypto";
import { networkKinds } from "../../chain/kinds.ts";
import type { Network } from "../../chain/networks.ts";

/**
 * Returns the name of the file in which the build keeps a checked table: a digest of all that the result depends on but
 * the program, with which the file is replaced.
 */
export function builtName(name: string, text: string, networks: readonly Network[]): string {
  const symbols = networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol));
  return `${createHash("sha256")
    .update(JSON.stringify([name, text, symbols]))
    .digest("hex")}.json`;
}

/** Reads the file of a checked table, as `builtTables` writes it. */
export function readBuilt(json: string): unknown {
  return JSON.parse(json, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if ("bigint" in value) return BigInt(String(value.bigint));
    return "networkKind" in value ? networkKinds[String(value.networkKind)] : value;
  });
}
