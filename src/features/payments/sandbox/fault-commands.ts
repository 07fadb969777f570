import type { App } from "../../../app.ts";
import { commandsOf, section } from "../../../api/declare/command.ts";
import type { SandboxFault } from "../../../platform/chain/sandbox/chain.ts";
import { disturbProviders, healProviders } from "./sandbox.ts";

const command = commandsOf<App>();

/**
 * How long after the end of a failure a provider may stay excluded, in minutes: five until the next check of its logs,
 * and one for the schedule of these checks.
 */
const aftermathMinutes = 6;

const faults: readonly (readonly [SandboxFault, string])[] = [
  ["stall", "Make all providers of the sandbox time out for a while"],
  ["refuse", "Make the first provider refuse requests for a while, as if a rate limit was reached"],
  ["silence", "Make the first provider return no logs for a while, as if nobody had paid"],
  ["contradict", "Make the first provider report every transaction as failed for a while"],
];

export const sandboxFaults = [
  ...faults.map(([fault, summary]) =>
    command({
      name: `sandbox ${fault}`,
      summary,
      arguments: [
        {
          name: "seconds",
          description: "duration in seconds (60); 0 ends the fault",
          isOptional: true,
        },
      ],
      examples: [`till sandbox ${fault} 30`, `till sandbox ${fault} 0 --json`],
      effect: "write-without-trial",
      async handle(app, call) {
        const seconds = call.optionalArgument("seconds") ?? "60";
        const forMs = seconds === "0" ? 0 : (await wholeNumber("seconds", seconds)) * 1_000;
        return { fault, until: await disturbProviders(app, call.context, fault, forMs) };
      },
      async present({ fault: shown, until }) {
        const { minute, toIso } = await import("../../../kernel/clock.ts");
        const feltUntil = toIso(until + aftermathMinutes * minute);
        return { fault: shown, until: toIso(until), feltUntil };
      },
      columns: ["until", ["feltUntil", "Felt until at the latest"]],
      identify: (one) => one.fault,
      next: ({ feltUntil }) =>
        `till sandbox heal ends it at once. Otherwise payments of all invoices may stay confirming, and late ones count as in time, until ${feltUntil} at the latest`,
    }),
  ),
  command({
    name: "sandbox heal",
    summary: "End all failures of the sandbox's providers, and check the providers at once",
    examples: ["till sandbox heal", "till sandbox heal --json"],
    effect: "write-without-trial",
    handle: (app, call) => healProviders(app, call.context),
    async present({ isChecked, providers }) {
      const { presentProvider } = await import("../networks/present.ts");
      return { isChecked, providers: providers.map(presentProvider) };
    },
    columns: [["isChecked", "Checked by the server"]],
    sections: ({ providers }) => [
      section({
        title: "Providers",
        items: providers,
        columns: ["provider", "isInUse", "condition", "checkedAgainAt"],
      }),
    ],
    identify: ({ providers }) => providers.map(({ provider }) => provider).join("\n"),
    next: ({ isChecked }) =>
      isChecked
        ? "till sandbox mine: payments that waited are verified with the next blocks"
        : "till chain status, until a server has checked the providers",
  }),
];

/** Parses a number of blocks or seconds in an argument. Throws InvalidRequest. */
export async function wholeNumber(name: string, text: string): Promise<number> {
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidRequest(`The number of ${name} must be a whole number from 1 to 999,999,999.`);
}
