// npm run prove: lists all proofs. npm run prove -- all, or -- short, or the names of some, runs them one after the other;
// it fails if one of them fails, after all have run.
import { spawnSync } from "node:child_process";
import { proofs, shortProofs, type Proof } from "./proofs.ts";

const nameOf = ({ script }: Proof) => script.replace("prove:", "");

function list(): void {
  const lines = proofs.flatMap((proof) => [
    `${nameOf(proof)}  (npm run ${proof.script})`,
    `  ${proof.promise}`,
    `  about ${String(proof.minutes)} minutes; needs ${proof.needs.join(", ") || "nothing"}`,
    ...(proof.variables === undefined ? [] : [`  change with ${proof.variables.join(", ")}`]),
  ]);
  console.log(lines.join("\n"));
  const short = shortProofs.map(nameOf).join(", ");
  console.log("\nnpm run prove -- NAME … runs some, npm run prove -- all runs all of them.");
  console.log(`npm run prove -- short runs those of a few minutes: ${short}.`);
}

/** Returns the proofs with these names, or null, and says which is unknown. */
function chosen(names: readonly string[]): readonly Proof[] | null {
  if (names.includes("all")) return proofs;
  const asked = names.flatMap((name) => (name === "short" ? shortProofs.map(nameOf) : [name]));
  const unknown = asked.filter((name) => !proofs.some((proof) => nameOf(proof) === name));
  if (unknown.length === 0) return proofs.filter((proof) => asked.includes(nameOf(proof)));
  console.error(`No proof is ${unknown.join(", ")}: npm run prove lists all.`);
  return null;
}

function run(all: readonly Proof[]): void {
  const results = all.map((proof) => {
    console.log(`\n${nameOf(proof)}: ${proof.promise}`);
    const startedAt = performance.now();
    const { status } = spawnSync("npm", ["run", "--silent", proof.script], {
      stdio: "inherit",
      // A proof that is skipped, because it needs something that is missing, does not hold.
      env: { ...process.env, TILL_TEST_NO_SKIP: "1" },
    });
    return { proof, isHeld: status === 0, minutes: (performance.now() - startedAt) / 60_000 };
  });
  console.log("");
  for (const { proof, isHeld, minutes } of results)
    console.log(`${isHeld ? "held  " : "FAILED"}  ${nameOf(proof)}, ${minutes.toFixed(1)} minutes`);
  const held = results.filter(({ isHeld }) => isHeld).length;
  console.log(`${String(held)} of ${String(results.length)} proofs held`);
  if (held < results.length) process.exitCode = 1;
}

const names = process.argv.slice(2);
const asked = chosen(names);
if (asked === null) process.exitCode = 2;
else if (names.length === 0) list();
else run(asked);
