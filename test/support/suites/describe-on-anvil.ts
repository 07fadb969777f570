import { anvilUnavailableReason } from "../chain/anvil.ts";

/** Declares a suite that needs a real EVM node; without one it is skipped with the reason in its title. */
export function describeOnAnvil(title: string, body: (this: Mocha.Suite) => void): void {
  const reason = anvilUnavailableReason();
  if (reason === null) describe(title, body);
  else describe.skip(`${title} (${reason})`, body);
}
