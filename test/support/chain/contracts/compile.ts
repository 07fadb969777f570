/**
 * Compiles tokens.sol. The result is committed as compiled.json, so that tests need no compiler; a test compiles the
 * source again and compares. After changing the source, run from the project's root: node --import tsx
 * test/support/chain/contracts/compile.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import solc from "solc";
import { compilationFile, type Compilation, type CompiledContract } from "./compiled.ts";

interface CompilerOutput {
  readonly errors?: readonly { readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompilerContract>>>>;
}

interface CompilerContract {
  readonly abi: unknown;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
  };
}

const source = fileURLToPath(new URL("tokens.sol", import.meta.url));

/** Compiles the source; a warning is an error. Takes a few seconds and no network. */
export function compileContracts(): Compilation {
  const compiler = solc as { compile(input: string): string; version(): string };
  const output = JSON.parse(
    compiler.compile(
      JSON.stringify({
        language: "Solidity",
        sources: { "tokens.sol": { content: readFileSync(source, "utf8") } },
        settings: {
          evmVersion: "paris",
          optimizer: { enabled: true, runs: 200 },
          // The appended metadata would change with every comment.
          metadata: { appendCBOR: false },
          outputSelection: {
            "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] },
          },
        },
      }),
    ),
  ) as CompilerOutput;
  const complaints = output.errors ?? [];
  if (complaints.length > 0) {
    throw new Error(complaints.map((complaint) => complaint.formattedMessage).join("\n"));
  }
  const contracts = Object.entries(output.contracts["tokens.sol"] ?? {})
    .filter(([, contract]) => contract.evm.bytecode.object !== "")
    .map(([name, contract]): [string, CompiledContract] => [
      name,
      {
        abi: contract.abi,
        bytecode: `0x${contract.evm.bytecode.object}`,
        runtimeBytecode: `0x${contract.evm.deployedBytecode.object}`,
      },
    ]);
  return { compiler: compiler.version(), contracts: Object.fromEntries(contracts) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(compilationFile, `${JSON.stringify(compileContracts(), null, 2)}\n`);
}
