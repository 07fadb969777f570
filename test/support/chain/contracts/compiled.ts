import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface CompiledContract {
  readonly abi: unknown;
  /** The code in a deploying transaction. */
  readonly bytecode: string;
  /** The code at the contract's address: the argument of anvil_setCode. */
  readonly runtimeBytecode: string;
}

export interface Compilation {
  readonly compiler: string;
  readonly contracts: Readonly<Record<string, CompiledContract>>;
}

export const compilationFile = fileURLToPath(new URL("compiled.json", import.meta.url));

/** Returns the committed result of compiling tokens.sol. */
export function committedContracts(): Compilation {
  return JSON.parse(readFileSync(compilationFile, "utf8")) as Compilation;
}

/** Returns the code of a contract at its address; throws on a name that tokens.sol does not contain. */
export function runtimeBytecode(name: string): string {
  const contract = committedContracts().contracts[name];
  if (contract === undefined) throw new Error(`tokens.sol has no contract ${name}`);
  return contract.runtimeBytecode;
}
