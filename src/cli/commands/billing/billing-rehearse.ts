import { rehearseBilling } from "../../../compose/rehearsal/rehearse-billing.ts";
import { requireStoreFile } from "../../../compose/store-place.ts";
import { secretFor } from "../../../compose/store-fingerprint.ts";
import { openReadOnlyStore } from "../../../compose/read-only-store.ts";
import { paymentHabits, type PaymentHabit } from "../../../features/billing/rehearsal/habits.ts";
import { rehearsalMonthsMax } from "../../../features/billing/rehearsal/rehearsal.ts";
import { nextInvoicesCommand } from "../../../features/billing/commands.ts";
import { systemClock } from "../../../kernel/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import { createLogger } from "../../../platform/logger/index.ts";
import { systemRandom } from "../../../platform/secrets/tokens.ts";
import type { Options } from "../../command-words.ts";
import { UsageError } from "../../failures/refusals.ts";
import { runFeatureCommand } from "../../feature-command.ts";
import { interruptibly } from "../../interrupt.ts";
import { findNamed } from "../../organization.ts";
import { loadStoreSettings, logLevelOf } from "../../settings.ts";
import { startProgress } from "../../terminal/progress.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { printRehearsal } from "./billing-rehearsal-output.ts";

/** The flags of the preview, which is a page of subscriptions. */
const ofPreview = ["status", "limit", "cursor"];

/**
 * `till billing rehearse`: previews the next invoices; with --months, runs billing through future months on a private
 * copy of the store, which may be in use and is only read.
 */
export async function rehearseCommand(terminal: Terminal, flags: Options): Promise<void> {
  if (flags["months"] === undefined) {
    if (flags["payments"] !== undefined) {
      throw new UsageError("--payments needs --months. Without it, only next invoices are shown.");
    }
    const given = { arguments: {}, flags };
    await runFeatureCommand(terminal, nextInvoicesCommand, given);
    return;
  }
  const wrong = ofPreview.filter((name) => flags[name] !== undefined);
  if (wrong.length > 0) {
    const names = wrong.map((name) => `--${name}`).join(", ");
    throw new UsageError(`Leave out ${names}, which only the preview without --months takes.`);
  }
  const months = monthsOf(flags["months"]);
  const payments = habitOf(flags["payments"]);
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  await requireStoreFile(config);
  const secret = await secretFor(config, false, systemRandom);
  const organizationId = await findOrganization(config, flags["organization"]);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const plan = { from: systemClock.now(), months, payments, organizationId };
  const bar = startProgress(terminal);
  try {
    await interruptibly((signal) =>
      rehearseBilling(
        { config, secret, logger, signal, randomBytes: systemRandom, progress: bar.report },
        plan,
        async (rehearsal) => {
          bar.end();
          await printRehearsal(terminal, plan, rehearsal, signal);
        },
      ),
    );
  } finally {
    bar.end();
  }
}

function monthsOf(given: string | boolean | undefined): number {
  const months = typeof given === "string" && /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (months >= 1 && months <= rehearsalMonthsMax) return months;
  throw new UsageError(
    `--months must be a whole number from 1 to ${String(rehearsalMonthsMax)}, not ${JSON.stringify(given)}.`,
  );
}

function habitOf(given: string | boolean | undefined): PaymentHabit {
  const habit = paymentHabits.find((one) => one === (given ?? "on-time"));
  if (habit !== undefined) return habit;
  throw new UsageError(
    `--payments must be ${paymentHabits.join(", ")}, not ${JSON.stringify(given)}.`,
  );
}

/** Returns the id of the organization with an id or a name; null if none was given. */
async function findOrganization(config: Config, given: string | boolean | undefined) {
  if (typeof given !== "string") return null;
  const store = await openReadOnlyStore(config, systemClock);
  try {
    return (await findNamed(store.reader, given)).id;
  } finally {
    await store.close();
  }
}
