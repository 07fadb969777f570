import type { App } from "../../../app.ts";
import type { CommandCall, Person } from "../../../http/declare/command.ts";
import { Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { restOf } from "./allocation-rules.ts";
import { allocateTransfer, ignoreTransfer } from "./allocation.ts";
import { presentTransfer } from "./records.ts";
import { waitingReasonWords } from "./status.ts";
import { getTransfer } from "./transfers.ts";

type Shown = ReturnType<typeof presentTransfer>;
type Answer = "ignore" | "skip" | "stop" | Id<"invoice">;

/** Number of suggested invoices that are offered. */
const offeredMax = 5;

/**
 * Asks for each unmatched transfer what it is, and allocates or ignores it. Each is read again before the question,
 * because somebody else may have decided in the meantime; a refused decision leaves the transfer in the inbox.
 */
export async function triage(
  app: App,
  call: Pick<CommandCall, "context">,
  organizationId: Id<"organization">,
  transferIds: readonly Id<"transfer">[],
  person: Person,
): Promise<void> {
  const done = { allocated: 0, ignored: 0, skipped: 0 };
  for (const [index, id] of transferIds.entries()) {
    const view = await getTransfer(app, organizationId, id);
    const shown = presentTransfer(view);
    if (shown.status !== "unmatched") continue;
    person.say(`\n${String(index + 1)} of ${String(transferIds.length)}: ${inWords(shown)}`);
    const answer = await person.choose<Answer>("What is it?", choicesOf(shown));
    if (answer === "stop") break;
    try {
      if (answer === "skip") {
        done.skipped += 1;
      } else if (answer === "ignore") {
        await ignoreTransfer(app, call.context, organizationId, id);
        done.ignored += 1;
      } else {
        const amount = restOf(view, []);
        await allocateTransfer(app, call.context, organizationId, id, [
          { invoiceId: answer, amount },
        ]);
        done.allocated += 1;
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      person.say(`${error.title}. ${error.message}`);
    }
  }
  const counts = Object.entries(done).map(([what, count]) => `${String(count)} ${what}`);
  person.say(`Done: ${counts.join(", ")}.`);
}

function inWords(one: Shown): string {
  const rejected = one.allocations.findLast(({ status }) => status === "rejected");
  return [
    `${one.unallocatedAmount} of ${one.amount} ${one.tokenSymbol} on ${one.network}`,
    `  from ${one.fromAddress} at ${one.blockTime}`,
    `  ${one.transactionHash}`,
    ...(one.waitingReason == null ? [] : [`  waits: ${waitingReasonWords[one.waitingReason]}`]),
    ...(rejected === undefined
      ? []
      : [
          `  rejected or reversed from ${rejected.invoiceId}, which may owe it to its payer: till refund create ${rejected.paymentId} returns it`,
        ]),
  ].join("\n");
}

/** Returns the choices, of which the first is the default: never an invoice that did not exist when the money came. */
function choicesOf({ suggestions, tokenSymbol }: Shown) {
  const offered = suggestions.slice(0, offeredMax).map((one) => ({
    name: `Allocate to ${one.invoiceId}, which asks for ${one.remainingAmount} ${tokenSymbol} (${one.reasons.join(", ")})`,
    value: one.invoiceId as Answer,
    isAfterwards: one.reasons.includes("issued_afterwards"),
  }));
  return [
    ...offered.filter(({ isAfterwards }) => !isAfterwards),
    { name: "Skip: leave it in the inbox", value: "skip" as const },
    ...offered.filter(({ isAfterwards }) => isAfterwards),
    { name: "Ignore: it leaves the inbox", value: "ignore" as const },
    { name: "Stop", value: "stop" as const },
  ];
}
