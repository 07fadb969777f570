import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface CompiledContract {
  readonly abi: unknown;
  /** What a deploying transaction carries. */
  readonly bytecode: string;
  /** What lies at the contract's address: the argument of anvil_setCode. */
  readonly runtimeBytecode: string;
}

export interface Compilation {
  readonly compiler: string;
  readonly contracts: Readonly<Record<string, CompiledContract>>;
}

export const compilationFile = fileURLToPath(new URL("compiled.json", import.meta.url));

/** What compile.ts made of tokens.sol, as it was committed. */
export function committedContracts(): Compilation {
  return JSON.parse(readFileSync(compilationFile, "utf8")) as Compilation;
}

/** The code of a contract as it lies at an address; throws on a name that tokens.sol doesn't have. */
export function runtimeBytecode(name: string): string {
  const contract = committedContracts().contracts[name];
  if (contract === undefined) throw new Error(`tokens.sol has no contract ${name}`);
  return contract.runtimeBytecode;
}
