import * as z from "zod";
import type { Column } from "../../http/declare/command.ts";
import { toIso, second } from "../../kernel/clock.ts";
import { listReceiptKeys } from "../../features/receipts/keys.ts";
import { verifySigned, type KeySet, type Verified } from "../../features/receipts/signed-text.ts";
import { UsageError } from "../failures/refusals.ts";
import { openForCommand } from "../open-store.ts";
import { printRecord } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { readTextInput } from "../terminal/text-input.ts";

interface Flags extends Readonly<Record<string, unknown>> {
  readonly file?: string;
  readonly keys?: string;
}

const KeySetFile = z.looseObject({
  keys: z
    .array(
      z.looseObject({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        x: z.string(),
        kid: z.string(),
      }),
    )
    .min(1),
});

/**
 * `till receipt verify`: checks a receipt or a payment request, with the keys in a file or those of the store. It sends
 * no requests.
 */
export async function verifyReceipt(terminal: Terminal, flags: Flags): Promise<void> {
  if (flags.keys === "-" && (flags.file ?? "-") === "-") {
    throw new UsageError("Only one of the text and the keys can come from standard input.");
  }
  // The keys first: without a store, standard input is not read.
  const keySet =
    flags.keys === undefined
      ? await keysOfStore(terminal, flags)
      : await keysOfFile(terminal, flags.keys);
  const text = await readTextInput(terminal, flags.file ?? "-");
  const verified = await verifySigned(text, keySet);
  await printRecord(terminal, verified, {
    columns: linesOf(verified),
    sections: null,
    identify: () => verified.claims.checkoutId,
  });
}

function linesOf({ kind }: Verified): readonly Column<Verified>[] {
  const money =
    kind === "receipt"
      ? ([
          ["Paid", (one) => `${one.paidAmount} ${one.settlementCurrency}`],
          ["Received", (one) => `${one.receivedAmount} ${one.tokenSymbol}`],
          ["Paid at", (one) => one.paidAt],
          ["Transactions", (one) => one.transactionHashes],
        ] satisfies Line<"receipt">[])
      : ([
          ["To pay", (one) => `${one.remainingAmount} ${one.tokenSymbol}`],
          ["Token's contract", (one) => one.tokenContract],
          ["Expires at", (one) => one.expiresAt],
        ] satisfies Line<"payment_request">[]);
  const lines = [
    ["Merchant", (one) => one.merchantDisplayName],
    ["Reference", (one) => one.reference],
    ...money,
    ["Network", (one) => (one.isTest ? `${one.network} (test: no value)` : one.network)],
    ["Address", (one) => one.walletAddress],
    ["Signed by", (one) => one.iss],
    ["Signed at", (one) => toIso(one.iat * second)],
  ] as Line<typeof kind>[];
  return [
    {
      title: "Signature",
      value: () => `valid, of a ${kind === "receipt" ? "receipt" : "payment request"}`,
    },
    ...lines.map(([title, value]) => ({
      title,
      value: ({ claims }: Verified) => value(claims),
    })),
    { title: "Key", value: ({ keyId }) => keyId },
  ];
}

type ClaimsOf<Kind> = Extract<Verified, { readonly kind: Kind }>["claims"];
type Line<Kind> = readonly [
  title: string,
  value: (claims: ClaimsOf<Kind>) => string | null | readonly string[],
];

async function keysOfStore(terminal: Terminal, flags: Flags): Promise<KeySet> {
  const opened = await openForCommand(terminal, flags, true);
  try {
    return await listReceiptKeys(opened.app);
  } finally {
    await opened.close();
  }
}

async function keysOfFile(terminal: Terminal, path: string): Promise<KeySet> {
  const parsed = KeySetFile.safeParse(parseJson(await readTextInput(terminal, path)));
  if (parsed.success) return parsed.data as unknown as KeySet;
  throw new UsageError(
    `--keys: ${path} is not a key set. Save https://<your host>/.well-known/jwks.json, or run till receipt keys --json.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
