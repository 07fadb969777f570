import { anvilUnavailableReason } from "./anvil.ts";

/** A suite that needs a real EVM node: where there is none, it is skipped under a name that says why. */
export function describeOnAnvil(title: string, body: (this: Mocha.Suite) => void): void {
  const reason = anvilUnavailableReason();
  if (reason === null) describe(title, body);
  else describe.skip(`${title} (${reason})`, body);
}
